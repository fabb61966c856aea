"""A stand-in for the modes: what the command line came to, without measuring anything."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from types import ModuleType

import pytest

from msprun import cli
from msprun.model.invocation import Invocation
from msprun.schema import Run

ALL_KEYS = frozenset(field.name for field in dataclasses.fields(Run))
TIMING_KEYS = frozenset({"warmup", "repeats", "budget_s", "order", "impl", "profiler", "save_to_op"})


class Mode:
    """Remembers requests; `answers` are what it returns or raises, one a request, then 0."""

    def __init__(self, keys: frozenset[str], requests: list[tuple[Run, Invocation]], answers: list[object]) -> None:
        self.KEYS = keys
        self.requests = requests
        self.answers = answers

    def examine(self, run: Run, invocation: Invocation) -> dict[str, str]:
        return {}

    def run(self, run: Run, invocation: Invocation, spare: object = None) -> int:
        self.requests.append((run, invocation))
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, int)
        return answer


class Asked:
    """Call it with the words of a command line; then look at the requests that reached a mode."""

    def __init__(self) -> None:
        self.requests: list[tuple[Run, Invocation]] = []
        self.answers: list[object] = []

    def __call__(self, *words: str) -> int:
        return cli.main(words)

    def run(self, *words: str) -> Run:
        """The one request of a command line that is fine."""
        self.requests.clear()
        assert self(*words) == 0
        assert len(self.requests) == 1
        return self.requests[0][0]

    def invocation(self, *words: str) -> Invocation:
        self.run(*words)
        return self.requests[0][1]


def stand_in(patch: pytest.MonkeyPatch) -> Asked:
    """Put stand-ins in the place of modes, device detection and the choice of a profiler."""
    asked = Asked()
    module = ModuleType("msprun.mode")
    module.MODES = {  # type: ignore[attr-defined]
        "check": Mode(ALL_KEYS - TIMING_KEYS, asked.requests, asked.answers),
        "quick": Mode(ALL_KEYS, asked.requests, asked.answers),
    }
    patch.setitem(sys.modules, "msprun.mode", module)
    patch.setattr("msprun.device.detect", lambda: ("cpu", "nothing else is here"))
    patch.setattr("msprun.profiler.default_for", lambda kind: ("clock", f"fits {kind}"))
    return asked


def write(file: Path, text: str) -> Path:
    """A file, with the folders that it needs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
