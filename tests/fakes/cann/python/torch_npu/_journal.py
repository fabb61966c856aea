"""The truth: what really happened on the emulated device, a line of JSON each, and what the device remembers."""

import fcntl
import json
import os
import time


class Journal:
    """`<state>/device-<pid>.jsonl`; what is not flushed is lost when the process dies."""

    def __init__(self, state):
        self.state = state
        self.pid = os.getpid()
        self.records = []
        self.flushed = 0

    def add(self, what, **words):
        """Append a record and answer it."""
        record = dict(words, t=what)
        self.records.append(record)
        return record

    def flush(self):
        """Write what is new. A forked child has no device and writes nothing."""
        if not self.state or os.getpid() != self.pid:
            return
        new = self.records[self.flushed :]
        self.flushed = len(self.records)
        if new:
            with open(os.path.join(self.state, "device-%d.jsonl" % self.pid), "a") as file:
                file.write("".join(json.dumps(record) + "\n" for record in new))

    def note(self, text):
        """What a test operator wants the truth to know."""
        self.add("note", text=text, host_ns=time.time_ns())


class Health:
    """`<state>/health.json`: by physical id what outlives a process, such as a broken device or memory that stays."""

    def __init__(self, state, physical):
        self.path = os.path.join(state, "health.json") if state else ""
        self.key = str(physical)

    def read(self):
        """This device's words."""
        return self.all().get(self.key, {})

    def all(self):
        try:
            with open(self.path) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def write(self, **words):
        """Remember words of this device."""
        if not self.path:
            return
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.all()
            known[self.key] = dict(known.get(self.key, {}), **words)
            with open(self.path + ".new", "w") as file:
                json.dump(known, file)
            os.replace(self.path + ".new", self.path)
