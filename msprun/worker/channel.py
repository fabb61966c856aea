"""The worker's end of the channel: each answer is on disk before it is sent. Needs no torch."""

import math

from . import protocol


class Channel:
    """A connected socket and the mirror file of what was said over it."""

    def __init__(self, connection, job):
        self.connection = connection
        self.lines = connection.makefile("rb")
        self.nonce = job.nonce
        self.mirror = open(str(job.log), "ab", buffering=0)

    def say(self, number, answer):
        """Write an answer to the mirror, then send it."""
        line = protocol.encode(dict(plain(answer), nonce=self.nonce, id=number))
        self.mirror.write(line)
        self.connection.sendall(line)

    def requests(self):
        """Requests until `bye` or the end of the socket. Raises ChannelError on anything else."""
        for line in self.lines:
            request = protocol.decode(line, self.nonce)
            if request["do"] == "bye":
                return
            yield request


def plain(value):
    """A value as strict JSON can hold it: non-finite numbers and foreign objects as text."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "numel", lambda: 1)() == 1:
        return plain(value.item())
    return str(value)[:200]
