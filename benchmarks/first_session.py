"""Row 6: from the start of msprun until its first session begins, against a Hydra application that does nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence

from benchmarks.pairs import Timed
from benchmarks.place import HERE, Broken, Place

ROUNDS, ROUNDS_QUICK = 20, 3
HEAVY = ("pandas", "pyarrow", "numpy", "torch")
_POLL_S = 0.001
_LIMIT_S = 60.0


def contenders(place: Place) -> dict[str, Timed]:
    """The trivial application from start to end, msprun from start to session."""
    app = (*place.python, str(HERE / "trivial_app" / "app.py"))
    hydra_run = f"hydra.run.dir={place.folder / 'trivial'}"
    return {
        "trivial app": lambda number: place.seconds((*app, hydra_run)),
        "first session": lambda number: until_session(place, (*place.msprun, *_words(place))),
    }


def imported_before(place: Place) -> tuple[str, ...]:
    """Which heavy libraries msprun itself has imported when its first session begins, as `-X importtime` tells."""
    until_session(place, (*place.python, "-X", "importtime", "-m", "msprun", *_words(place)))
    return heavy_imports(place.said("stderr"))


def heavy_imports(trace: str) -> tuple[str, ...]:
    """The heavy libraries of a trace of lines `import time: self | cumulative | name`."""
    names = {line.rpartition("|")[2].strip() for line in trace.splitlines() if line.startswith("import time:")}
    return tuple(name for name in HEAVY if name in names)


def until_session(place: Place, argv: Sequence[str]) -> float:
    """Seconds until the first session's script is there, which its process then runs; msprun is stopped at once.

    Raises Broken when msprun ends before, or takes a minute.
    """
    runs = place.folder / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    child, start = place.start(argv)
    try:
        while not any(runs.glob("*/sessions/0/wrapper.py")):
            if child.poll() is not None or time.perf_counter() - start > _LIMIT_S:
                raise Broken(f"{' '.join(argv)} began no session: {place.said('stderr')[-500:].strip()}")
            time.sleep(_POLL_S)
        return time.perf_counter() - start
    finally:
        _stop(child)


def _words(place: Place) -> tuple[str, ...]:
    return ("mode=quick", f"op=./{place.operator.name}", "device=cpu", "warmup=0", "repeats=1", "check=none")


def _stop(child: subprocess.Popen[bytes]) -> None:
    """As a user would: msprun then ends its worker and writes its pages."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGTERM)
    try:
        child.wait(_LIMIT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
