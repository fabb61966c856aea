"""The few protocols that the wings keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msprun.model.invocation import Invocation
from msprun.model.measurement import Block, Sample
from msprun.model.npu import Finding, Pulse, Use
from msprun.model.plan import DeviceFacts
from msprun.process import Spare
from msprun.schema import Run


class Device(Protocol):
    """Where operators run."""

    def select(self, run: Run, environ: Mapping[str, str]) -> DeviceFacts:
        """The device that is asked for, or the best one, before torch is imported. Raises ConfigError, MachineError."""

    def check(self, python: Path, environ: Mapping[str, str]) -> tuple[Finding, ...]:
        """What a user should know of its software. Raises MachineError where an interpreter cannot use the device."""

    def environment(self, facts: DeviceFacts) -> dict[str, str | None]:
        """Variables that a worker needs set; None stands for unset."""

    def use(self, facts: DeviceFacts) -> Use | None:
        """Who uses the device at this moment; None where that is not known."""

    def pulse(self, facts: DeviceFacts) -> Pulse | None:
        """Its clock, load and temperature at this moment; None where they are not known."""


class Profiler(Protocol):
    """Who takes the times."""

    @property
    def timing_method(self) -> str:
        """The name of its time in results."""

    @property
    def source(self) -> str:
        """The record that a time is read from."""

    @property
    def collector(self) -> str | None:
        """What the worker must do for it: a word of worker/collector.py, None where the host's clock decides."""

    def command(self, python: Path, wrapper: Path) -> tuple[str, ...]:
        """The words that start one profiled process."""

    def samples(self, asked: Sequence[Block], answer: dict[str, Any]) -> tuple[Sample, ...]:
        """The samples of one `time` request, by the host's clock."""


class Collector(Profiler, Protocol):
    """A profiler that sees the device, and tells when the session is over."""

    @property
    def readers(self) -> tuple[str, ...]:
        """Formats that hold its kernels, the preferred first."""

    @property
    def marker_reader(self) -> str | None:
        """The format that holds markers."""

    @property
    def is_within(self) -> bool:
        """It collects inside of the worker, which must be told when calls begin to count, and when no more follow."""

    @property
    def for_markers(self) -> tuple[str, ...]:
        """The words of its command without which there are no markers."""

    def captures(self, folder: Path) -> tuple[Path, ...]:
        """What it left in a session's folder, one a process."""

    def export(self, capture: Path) -> tuple[str, ...] | None:
        """The words that parse a capture again, None where that cannot be done."""

    def complaint(self, said: str) -> str | None:
        """What its own output says went wrong, in a line."""

    def remedy(self, said: str) -> str | None:
        """What to do about that, None where nothing better is known than to read it."""

    def refused(self, said: str) -> tuple[str, ...]:
        """The words of its command that its output says are not known, and that a session can do without."""

    def is_occupied(self, said: str) -> bool:
        """Its output says that somebody else profiles the device."""


class Mode(Protocol):
    """What can be asked."""

    KEYS: frozenset[str]

    def examine(self, run: Run, invocation: Invocation) -> dict[str, str]:
        """Check what can be known while nothing runs; digests of the operator's files, by path in its folder.

        Raises MsprunError as `run` would. What is wrong with the operator itself is left to `run`.
        """

    def run(self, run: Run, invocation: Invocation, spare: Spare | None = None) -> int:
        """Do it; the exit code. Raises MsprunError when the request or the machine is wrong.

        A worker may take over the process `spare`.
        """
