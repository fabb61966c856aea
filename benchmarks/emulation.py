"""A fake CANN for the rows that need an NPU: what it costs is said here, and its operators are computed by the host."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.place import Place
from msprun.device.cpu import host_variables

# A modest toolkit; real ones take 10 s and more to start a collection and to export it.
START_S, EXPORT_S = 2.0, 2.0


def why_not() -> str | None:
    """Why no NPU can be emulated here, None where one can."""
    try:
        from tests import cann
    except ImportError as error:
        return f"the fake CANN of tests/ is not here: {error}"
    return cann.why_not()


def environment(place: Place) -> dict[str, str]:
    """That of a program which finds the emulated NPU. Only where `why_not` says nothing."""
    from tests.cann import FAKES, Cann

    made = Cann(place.folder / "cann", start_s=START_S, export_s=EXPORT_S)
    found = place.cleaned(made.environ)
    # The tools are programs of `env python3`, which may be a version manager's script that takes longer than they do.
    path = (str(FAKES / "bin"), str(Path(sys.executable).parent), found["PATH"])
    return {
        **found,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join((str(FAKES / "python"), found["PYTHONPATH"])),
    }


def as_worker(place: Place) -> dict[str, str]:
    """The same with what msprun sets for its worker, so that a call costs the same everywhere."""
    return {**environment(place), **host_variables(1)}


NOTE = (
    f"rows 2 and 3 are of an emulated NPU: the host computes its operators, msprof takes {START_S:g} s to start and "
    f"{EXPORT_S:g} s to export (real toolkits: 10 s and more), and no driver has a device to open at the start"
)
