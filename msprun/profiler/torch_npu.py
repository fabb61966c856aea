"""torch_npu's own profiler inside the worker: the second choice, where msprof is missing."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msprun import toolkit
from msprun.profiler.clock import Clock
from msprun.profiler.msprof import Msprof

_ERROR = re.compile(r"\[ERROR\] \[\d+\] profiler\.py: (.+)")
_NO_MSPROF = "'msprof' command not found"


class TorchNpu(Clock):
    """Level1 of torch_npu.profiler; the worker begins and ends it, and it parses what it collected by itself.

    Its parser has the msprof command export a PROF folder inside of its own and makes kernel_details of that; markers
    are in the inner one alone. Meanwhile the host's clock times each call; device times come when the session is over.
    """

    timing_method = "torch_npu.profiler.kernel_details.duration"
    source = "kernel_details"
    collector = "torch_npu"
    readers = ("kernel_details", "op_summary", "task_time")
    marker_reader = "msprof_tx"
    is_within = True
    for_markers = ()

    def export(self, capture: Path) -> tuple[str, ...] | None:
        """The words that parse the raw data again; None where there are none, or no msprof to do it."""
        raw = sorted(capture.glob("PROF_*"))
        return Msprof().export(raw[-1]) if raw and toolkit.msprof(os.environ) else None

    def captures(self, folder: Path) -> tuple[Path, ...]:
        """The folders that the profiler left in a session's."""
        return tuple(sorted(path for path in folder.glob("profile/*_ascend_pt") if path.is_dir()))

    def complaint(self, said: str) -> str | None:
        """What its parser says went wrong, in a line; None where it says nothing. It never fails for that."""
        error = _ERROR.search(said)
        return None if error is None else f"torch_npu.profiler: {error[1].strip()}"

    def remedy(self, said: str) -> str | None:
        """What to do where its parser lacks its tool; None where nothing is known."""
        if _NO_MSPROF not in said:
            return None
        return "torch_npu's parser calls CANN's msprof: source set_env.sh of CANN, so that it is on PATH"

    def refused(self, said: str) -> tuple[str, ...]:
        """Its command is the worker's own, of which every word is known."""
        return ()

    def is_occupied(self, said: str) -> bool:
        """The driver has one channel a device, whoever asks for it; the profiler then goes on and has nothing."""
        return Msprof().is_occupied(said)
