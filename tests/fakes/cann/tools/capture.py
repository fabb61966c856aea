"""What one process did on the device, read from its log: kernels, copies, marks, in the order of the device."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

from tools.faults import asked, faults


@dataclass(frozen=True)
class Capture:
    """The raw data of a process; `process` is the record with which it came to its first device.

    `ran` are the kernels that ran, whatever was recorded of them; `samples` what counters said meanwhile.
    """

    process: dict
    processes: list = field(default_factory=list)
    ran: list = field(default_factory=list)
    exit_ns: int = 0
    samples: list = field(default_factory=list)
    kernels: list = field(default_factory=list)
    copies: list = field(default_factory=list)
    events: list = field(default_factory=list)
    marks: list = field(default_factory=list)

    @property
    def tasks(self) -> list:
        """Everything with a device time but marks, by start."""
        return sorted(self.kernels + self.copies + self.events, key=lambda task: task["start_ns"])

    @property
    def span_ns(self) -> tuple:
        """From the process' first moment on the device to the end of its last task."""
        ends = [task["start_ns"] + task["duration_ns"] for task in self.kernels + self.copies]
        return self.process["start_ns"], max([self.process["start_ns"]] + ends)

    @property
    def end_ns(self) -> int:
        """The end of the process, where it said so, or of its last task."""
        return max(self.exit_ns, self.span_ns[1])


def records(path: Path) -> list:
    """The lines of a log; the last one may be torn, since its writer may have been killed."""
    found = []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return found
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def newest(found: list, session: str) -> list:
    """The records of the process that a session saw, or of the last one: the number of a process comes again."""
    starts = [i for i, record in enumerate(found) if record.get("t") == "process"]
    ours = [i for i in starts if found[i].get("session") == session] or starts[-1:]
    return found[ours[0] :] if ours else []


def read(prof: Path) -> Capture:
    """The raw data of a PROF folder, without what its options and the faults have dropped. ValueError: none there."""
    options = json.loads((prof / "host/data/sample.json").read_text())
    found = [
        r for path in sorted(prof.glob("device_*/data/*.jsonl")) for r in newest(records(path), options["session"])
    ]
    if not found:
        raise ValueError("no raw data")
    timed = [r for r in found if "start_ns" in r and "duration_ns" in r]
    kernels = sorted((r for r in timed if r["t"] == "kernel"), key=lambda r: r["start_ns"])
    capture = Capture(
        process=found[0],
        processes=[r for r in found if r["t"] == "process"],
        ran=kernels,
        exit_ns=max((r.get("host_ns", 0) for r in found if r["t"] == "exit"), default=0),
        kernels=kernels,
        copies=[r for r in timed if r["t"] == "copy"],
        events=[r for r in timed if r["t"] == "event"],
        marks=_marks(found + records(prof / "host/data/marks.jsonl")),
    )
    return _jumped(_lost(_stored(_within(capture, options), options)))


def _jumped(capture: Capture) -> Capture:
    """The clock of the device jumps by so many us in the middle of its kernels."""
    us = asked("clock_jump", 5000)
    if not us or not capture.kernels:
        return capture
    middle = capture.kernels[len(capture.kernels) // 2]["start_ns"]
    later = [
        [dict(r, start_ns=r["start_ns"] + us * 1000) if r["start_ns"] >= middle else r for r in tasks]
        for tasks in (capture.kernels, capture.copies, capture.events, capture.ran)
    ]
    return replace(capture, kernels=later[0], copies=later[1], events=later[2], ran=later[3])


def _within(capture: Capture, options: dict) -> Capture:
    """--delay and --duration, seconds since the start of the session."""
    start = options["start_ns"] + int(float(options.get("delay", 0)) * 1e9)
    stop = start + int(float(options["duration"]) * 1e9) if "duration" in options else None

    def kept(found: list, name: str) -> list:
        return [r for r in found if r[name] >= start and (stop is None or r[name] < stop)]

    parts = {name: kept(getattr(capture, name), "start_ns") for name in ("kernels", "copies", "events")}
    return replace(capture, marks=kept(capture.marks, "host_start_ns"), **parts)


def _stored(capture: Capture, options: dict) -> Capture:
    """--storage-limit drops the oldest data: a task takes FAKE_CANN_RECORD_BYTES, 128 where nothing is said."""
    limit = options.get("storage_bytes")
    room = limit // options["record_bytes"] if limit else len(capture.kernels)
    return replace(capture, kernels=capture.kernels[max(0, len(capture.kernels) - room) :])


def _lost(capture: Capture) -> Capture:
    kernels = list(capture.kernels)
    kernels = kernels[asked("lost_head") :]
    kernels = kernels[: max(0, len(kernels) - asked("lost_tail"))]
    if "lost_row" in faults() and kernels:
        at = int(faults()["lost_row"] or len(kernels) // 2)
        del kernels[at : at + 1]
    return replace(capture, kernels=kernels)


def _marks(found: list) -> list:
    """Ranges whole, and ranges of which the beginning and the end are lines of their own."""
    whole = [dict(r) for r in found if r.get("t") == "mark"]
    begun = {}
    for record in found:
        if record.get("t") == "mark_start":
            begun[record["id"]] = dict(record, t="mark", host_start_ns=record["host_ns"], host_end_ns=None)
        elif record.get("t") == "mark_end" and record["id"] in begun:
            begun[record["id"]]["host_end_ns"] = record["host_ns"]
    queues: dict = {}
    for record in found:
        if record.get("t") in ("kernel", "copy", "event") and "start_ns" in record:
            queues.setdefault(record.get("stream"), []).append(record)
    known = {stream: _queue(tasks) for stream, tasks in queues.items()}
    return [_on_device(mark, known) for mark in sorted(whole + list(begun.values()), key=lambda m: m["id"])]


def _queue(tasks: list) -> tuple:
    """(moments of launch, for each the end of everything that was launched until then)."""
    launched = sorted((task["host_ns"], task["start_ns"] + task["duration_ns"]) for task in tasks)
    return [host for host, _ in launched], list(accumulate((end for _, end in launched), max))


def _on_device(mark: dict, queues: dict) -> dict:
    """A mark on a stream happens there when it is reached: after everything that was launched before it."""
    hosts, ends = queues.get(mark.get("stream"), ([], []))
    for side in ("start", "end"):
        host, name = mark.get("host_%s_ns" % side), "device_%s_ns" % side
        if mark.get("stream") and host is not None and mark.get(name) is None:
            before = bisect_right(hosts, host)
            mark[name] = max(host, ends[before - 1]) if before else host
    return mark
