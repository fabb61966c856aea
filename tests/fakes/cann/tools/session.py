"""One collection: which processes came to the device while it ran, and the locks on their devices."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from tools import capture, prof

# The number that the scheduler's channel has in messages.
CHANNEL = 50


class Session:
    """Watches the state folder of the fake device, which every process that uses the device writes to."""

    def __init__(self, state: Path, folder: Path, options: dict) -> None:
        self.state, self.folder = state, folder
        self.options = dict(options, start_ns=time.time_ns())
        self.id = "%d-%d" % (os.getpid(), self.options["start_ns"])
        self.profs: dict = {}
        self.refused: set = set()
        self.locks: dict = {}

    def look(self) -> None:
        """Give a PROF folder to each process of this session that has come to the device since."""
        for log in sorted(self.state.glob("device-*.jsonl")):
            pid = int(log.stem.partition("-")[2])
            if pid not in self.profs and pid not in self.refused:
                self._adopt(log, capture.last_process(capture.records(log))[:1])
        for pid, folder in self.profs.items():
            prof.keep(folder, self.state / ("marks-%d.jsonl" % pid), "host/data/marks.jsonl")

    def close(self) -> None:
        """Let go of the devices."""
        for lock in self.locks.values():
            os.close(lock)
        self.locks.clear()

    def _adopt(self, log: Path, found: list) -> None:
        if not found or not self._ours(found[0]):
            return
        process = found[0]
        if not self._hold(process["physical"]):
            self.refused.add(process["pid"])
            place = (CHANNEL, process["physical"])
            print("[ERROR] Prof channel[%d] of device[%d] is occupied, which may cause by multi-process" % place)
            return
        folder = prof.make(self.folder, len(self.profs) + 1, process, self.options)
        self.profs[process["pid"]] = folder
        prof.keep(folder, log, "device_%d/data/stars.jsonl" % process["device"])

    def _ours(self, process: dict) -> bool:
        if process.get("session"):
            return process["session"] == self.id
        return process["start_ns"] >= self.options["start_ns"] and process.get("collecting", True)

    def _hold(self, physical: int) -> bool:
        if physical in self.locks:
            return True
        lock = os.open(str(self.state / ("channel-%d.lock" % physical)), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self.locks[physical] = lock
        return True
