"""torch_npu's own profiler inside the worker: the second choice, where msprof is missing."""

from __future__ import annotations

from pathlib import Path

from msprun.profiler.clock import Clock
from msprun.profiler.msprof import Msprof


class TorchNpu(Clock):
    """Level1 of torch_npu.profiler; the worker begins and ends it, and it parses what it collected by itself.

    Meanwhile the host's clock times each call; device times come when the session is over.
    """

    timing_method = "torch_npu.profiler.kernel_details.duration"
    source = "kernel_details"
    collector = "torch_npu"
    readers = ("kernel_details",)
    marker_reader = None

    def export(self, capture: Path) -> None:
        """There is no second try: the profiler's own parser runs in the worker."""

    def captures(self, folder: Path) -> tuple[Path, ...]:
        """The folders that the profiler left in a session's."""
        return tuple(sorted(path for path in folder.glob("profile/*_ascend_pt") if path.is_dir()))

    def complaint(self, said: str) -> None:
        """What it prints goes to the worker's log, which failures name."""

    def refused(self, said: str) -> tuple[str, ...]:
        """Its command is the worker's own, of which every word is known."""
        return ()

    def is_occupied(self, said: str) -> bool:
        """The driver has one channel a device, whoever asks for it; the profiler then goes on and has nothing."""
        return Msprof().is_occupied(said)
