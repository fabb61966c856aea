"""CANN's msprof around the worker: device times of kernels, written when the worker has ended."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msprun.profiler.clock import Clock

# With AI-core counters on, kernels take up to 3.75 times as long (measuring Sort on an A3), so they are off.
_FLAGS = ("--ascendcl=on", "--task-time=on", "--ai-core=off", "--msproftx=on")
# Younger than some toolkits in use, which refuse to begin with it; without it calls are told apart by rests.
_DISPENSABLE = "--msproftx=on"
_UNKNOWN = re.compile(r"unrecognized option '([^']+)'")
_APP_DIED = re.compile(r"\[WARNING\] An exception has occurred in process App, return code: (.*?)\.?\s*$", re.M)
_ERROR = re.compile(r"\[ERROR\] (.*)")
_OCCUPIED = ("is occupied", "sample based profiling is ongoing")


class Msprof(Clock):
    """One msprof process around one worker. It exits with 0 also where its application died.

    Meanwhile the host's clock times each call; device times come when the session is over.
    """

    timing_method = "msprof.op_summary.task_duration"
    source = "op_summary"
    collector = "msprof"
    readers = ("op_summary", "task_time")
    marker_reader = "msprof_tx"
    is_within = False
    for_markers = (_DISPENSABLE,)

    def command(self, python: Path, wrapper: Path) -> tuple[str, ...]:
        """The positional form: words reach the application as they are."""
        return ("msprof", f"--output={wrapper.parent}", *_FLAGS, str(python), str(wrapper))

    def export(self, capture: Path) -> tuple[str, ...]:
        """The words that parse a PROF folder again."""
        return ("msprof", "--export=on", f"--output={capture}")

    def captures(self, folder: Path) -> tuple[Path, ...]:
        """The folders that msprof left in a session's, one a process that used the device."""
        return tuple(sorted(path for path in folder.glob("PROF_*") if path.is_dir() and not path.is_symlink()))

    def complaint(self, said: str) -> str | None:
        """What msprof's output says went wrong, in a line; None where it says nothing.

        An application's exit status or signal is printed as `strerror` of that number, so exit code 1 reads
        "Operation not permitted" and a segmentation fault "Resource temporarily unavailable".
        """
        errors = [line.strip() for line in _ERROR.findall(said)]
        died = _APP_DIED.search(said)
        if died is not None:
            return f"msprof says that the application died: {_meaning(died.group(1))}"
        return f"msprof: {errors[0]}" if errors else None

    def remedy(self, said: str) -> None:
        """Its complaints say what there is to say."""

    def refused(self, said: str) -> tuple[str, ...]:
        """The words of its command that this msprof does not know and that a session can do without."""
        return tuple(word for word in _UNKNOWN.findall(said) if word == _DISPENSABLE)

    def is_occupied(self, said: str) -> bool:
        """Another collection runs on this device."""
        return any(word in said for word in _OCCUPIED)


def _meaning(text: str) -> str:
    """The exit status or signal behind msprof's words."""
    for number in range(1, 256):
        if os.strerror(number) == text:
            return f"exit code or signal {number} (it prints {text!r})"
    return text
