"""FAKE_CANN_FAULT: a comma list of faults, each with an argument behind a colon where it takes one.

The fake device reads the same variable; its faults have names of their own.
"""

from __future__ import annotations

import os
import random
import zlib


def faults() -> dict:
    """Every fault that is asked for with its argument, "" where it has none."""
    words = os.environ.get("FAKE_CANN_FAULT", "").split(",")
    return dict(word.partition("@")[0].strip().partition(":")[::2] for word in words if word.strip())


def asked(name: str, default: int = 1) -> int:
    """How often, or how much of, a fault is wanted; 0 when it is not."""
    found = faults()
    return int(found[name] or default) if name in found else 0


def of_session(state: str) -> str:
    """The variable for one collection: what has `@once` behind it holds in the first that comes to it."""
    words = []
    for word in filter(None, os.environ.get("FAKE_CANN_FAULT", "").split(",")):
        name, _, when = word.strip().partition("@")
        taken = os.path.join(state, "fault-msprof-" + name.replace(":", "-"))
        if "once" in when.split("@"):
            try:
                os.close(os.open(taken, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
        words.append(name)
    return ",".join(words)


def seeded(*what: object) -> random.Random:
    """Random numbers that the same seed and the same thing get again, in any process."""
    key = "/".join(map(str, (os.environ.get("FAKE_CANN_SEED", "0"),) + what))
    return random.Random(zlib.crc32(key.encode()))
