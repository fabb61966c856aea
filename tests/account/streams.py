"""A device and its host, played through by hand: what runs when is said in microseconds, and the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from msgspec.structs import replace

from msprun.model.call import Accounts, Circumstances, DeviceCall, Identity, SideAccount
from msprun.model.frame import KERNELS, MARKERS, frame

EPOCH_NS = 1_780_000_000_000_000_000
FACTS = Circumstances(source="op_summary")
SEPARATOR = Identity(name="Neg", op_type="Neg", input_shapes="1,3,5,7,11,13")
# How long a launch takes, and the end of a synchronisation.
LAUNCH_US, SYNC_US = 10.0, 8.0


class Recording:
    """Plays calls one after the other and writes down what a profiler and a worker would."""

    def __init__(self, rest_us: float = 1000.0, separates: bool = False) -> None:
        self.rest_us = rest_us
        self.separates = separates
        self.pauses: list[int] = []
        self.now_us = 5000.0
        self.rows: list[dict[str, Any]] = []
        self.marks: list[dict[str, Any]] = []
        self.calls: list[DeviceCall] = []
        self.sums_ns: dict[int, int] = {}

    def kernel(self, name: str | None, us: float, **more: Any) -> float:
        """A task of the device that starts now; when it ends."""
        row = {
            "name": name, "op_type": name, "kind": "compute", "task_kind": "AI_VECTOR_CORE",
            "start_ns": _ns(self.now_us), "duration_ns": round(us * 1000), "device": 0, "stream": 2,
            "task": len(self.rows), "block_num": 8, "mix_block_num": None, "file": "op_summary.csv",
            "line": len(self.rows) + 2, "Input Shapes": "8,8",
        } | more  # fmt: skip
        self.rows.append(row)
        return self.now_us + us

    def work(self, kernels: Sequence[Any], inner_us: float = 2.0) -> None:
        """Tasks one after the other: (name, us) or (name, us, fields)."""
        for name, us, *more in kernels:
            self.now_us = self.kernel(name, us, **(more[0] if more else {})) + inner_us

    def call(self, case: int, side: str | None, purpose: str, kernels: Sequence[Any], **more: Any) -> int:
        """A call with these tasks; its number."""
        self.separate()
        number, start, before = len(self.calls) + len(self.pauses), self.now_us, len(self.rows)
        self.now_us += more.get("launch_us", LAUNCH_US)
        self.work(kernels, more.get("inner_us", 2.0))
        rows = self.rows[before:]
        last = max((row["start_ns"] + row["duration_ns"] for row in rows), default=_ns(self.now_us))
        self.now_us = (last - EPOCH_NS) / 1000 + more.get("sync_us", SYNC_US)
        self.calls.append(
            DeviceCall(
                number=number, case=case, side=side, purpose=purpose, visit=0, group=None, start_ns=_ns(start),
                end_ns=_ns(self.now_us),
            )
        )  # fmt: skip
        self._mark(f"mr|{number}", _ns(start), _ns(self.now_us), _ns(start + 2), last + 1000)
        self.sums_ns[number] = sum(row["duration_ns"] for row in rows if row["kind"] in ("compute", "ai_cpu"))
        self.now_us += more.get("rest_us", self.rest_us)
        return number

    def separate(self) -> None:
        """A separator and a rest, if this session has them."""
        if self.separates:
            self.work([(SEPARATOR.name, 2.5, {"op_type": SEPARATOR.op_type, "Input Shapes": SEPARATOR.input_shapes})])
            self.rest()

    def pause(self) -> None:
        """What stands behind the last call of a request."""
        if self.separates:
            self.separate()
            self.pauses.append(len(self.calls) + len(self.pauses))

    def rest(self, us: float | None = None) -> None:
        """The device does nothing."""
        self.now_us += self.rest_us if us is None else us

    def _mark(self, message: str, *times: int) -> None:
        names = ("start_ns", "end_ns", "device_start_ns", "device_end_ns")
        place = {"message": message, "domain": "msprun", "file": "msprof_tx.csv", "line": len(self.marks) + 2}
        self.marks.append(place | dict(zip(names, times, strict=True)))

    @property
    def kernels(self) -> pd.DataFrame:
        return rows_of(self.rows)

    @property
    def markers(self) -> pd.DataFrame:
        return frame(MARKERS, {name: [mark[name] for mark in self.marks] for name in MARKERS})

    @property
    def host_markers(self) -> pd.DataFrame:
        """The same without device times."""
        return self.markers.assign(
            device_start_ns=pd.array([None] * len(self.marks), dtype="Int64"),
            device_end_ns=pd.array([None] * len(self.marks), dtype="Int64"),
        )


def rows_of(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A frame of these rows."""
    names = [*KERNELS, "Input Shapes"]
    return frame(
        KERNELS, {name: pd.Series([row[name] for row in rows], dtype=KERNELS.get(name, "object")) for name in names}
    )


def interleaved(recording: Recording, case: int, sides: dict[str, Sequence[Any]], quads: int = 2) -> None:
    """First calls, a warm-up call each, then quads A B B A of one case."""
    reference, candidate = sides
    for purpose in ("first", "warmup"):
        for side in (reference, candidate):
            recording.call(case, side, purpose, sides[side])
    for _ in range(quads):
        for side in (reference, candidate, candidate, reference):
            recording.call(case, side, "timed", sides[side])


def sequential(recording: Recording, case: int, sides: dict[str, Sequence[Any]], calls: int = 4) -> None:
    """One side after the other."""
    for side, kernels in sides.items():
        for purpose in ("first", "warmup", *["timed"] * calls):
            recording.call(case, side, purpose, kernels)


def timeless(recording: Recording) -> list[DeviceCall]:
    """The calls without host times that could tell anything."""
    return [replace(call, start_ns=0, end_ns=0) for call in recording.calls]


def side_of(accounts: Accounts, side: str, case: int = 0) -> SideAccount:
    return next(one for one in accounts.sides if (one.case, one.side) == (case, side))


def times_ns(account: SideAccount) -> dict[int, int]:
    """Device time by number of call."""
    return {time.number: time.device_ns for time in account.times}


def _ns(us: float) -> int:
    return EPOCH_NS + round(us * 1000)
