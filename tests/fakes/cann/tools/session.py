"""One collection: which processes came to the device while it ran, and the locks on their devices."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

from tools import prof

# The number that the scheduler's channel has in messages.
CHANNEL = 50


class Session:
    """Watches the state folder of the fake device, which every process that uses the device writes to."""

    def __init__(self, state: Path, folder: Path, options: dict) -> None:
        self.state, self.folder = state, folder
        start_ns = time.time_ns()
        self.id = "%d-%d" % (os.getpid(), start_ns)
        self.options = dict(options, start_ns=start_ns, session=self.id)
        self.profs: dict = {}
        self.refused: set = set()
        self.locks: dict = {}
        # What was there before is no business of ours, and may be long.
        self.read = {log: log.stat().st_size for log in state.glob("device-*.jsonl")}

    def look(self) -> None:
        """Give a PROF folder to each process of this session that has come to the device since."""
        for log in sorted(self.state.glob("device-*.jsonl")):
            for process in self._new_processes(log):
                if self._ours(process) and process["pid"] not in self.refused:
                    self._adopt(log, process)
        for pid, folder in self.profs.items():
            prof.keep(folder, self.state / ("marks-%d.jsonl" % pid), "host/data/marks.jsonl")

    def close(self) -> None:
        """Let go of the devices."""
        for lock in self.locks.values():
            os.close(lock)
        self.locks.clear()

    def _new_processes(self, log: Path) -> list:
        with open(log, "rb") as file:
            file.seek(self.read.get(log, 0))
            whole = file.read().rpartition(b"\n")[0]
        self.read[log] = self.read.get(log, 0) + (len(whole) + 1 if whole else 0)
        lines = [json.loads(line) for line in whole.split(b"\n") if b'"process"' in line]
        return [line for line in lines if line["t"] == "process"]

    def _adopt(self, log: Path, process: dict) -> None:
        pid = process["pid"]
        if not self._hold(process["physical"]):
            self.refused.add(pid)
            place = (CHANNEL, process["physical"])
            print("[ERROR] Prof channel[%d] of device[%d] is occupied, which may cause by multi-process" % place)
            return
        if pid in self.profs:
            prof.add_device(self.profs[pid], process, self.options)
            return
        self.profs[pid] = prof.make(self.folder, len(self.profs) + 1, process, self.options)
        prof.keep(self.profs[pid], log, "device_%d/data/stars.jsonl" % process["device"])

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
