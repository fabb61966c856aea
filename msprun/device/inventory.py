"""The NPUs of a host, as npu-smi tells them; what it cannot tell is not known, and why is said."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msprun.device import npu_smi
from msprun.model.npu import Inventory, Place, Pulse
from msprun.model.plan import Heard

Runner = Callable[[Sequence[str], Mapping[str, str], float], Heard]
TOOL = "npu-smi"
# Where the driver puts it; the second is often not on the PATH of ordinary users.
PLACES = ("/usr/local/bin", "/usr/local/sbin")
TIMEOUT_S = 20.0
_DEVICE_FILE = re.compile(r"davinci\d+")


def find_tool(environ: Mapping[str, str]) -> Path | None:
    """npu-smi on PATH, else where the driver puts it."""
    found = shutil.which(TOOL, path=os.pathsep.join([environ.get("PATH", os.defpath), *PLACES]))
    return None if found is None else Path(found)


def device_files(dev: Path) -> tuple[str, ...]:
    """Device files of NPUs, of which the driver makes one a chip; `davinci_manager` is none."""
    try:
        names = os.listdir(dev)
    except OSError:
        return ()
    return tuple(sorted((n for n in names if _DEVICE_FILE.fullmatch(n)), key=lambda name: int(name[7:])))


def inventory(run: Runner, environ: Mapping[str, str], *, is_mapped: bool = True) -> Inventory:
    """Chips and processes. `chips` None means not known: why, and a code for it, are said.

    Unless `is_mapped` the map of ids is not asked for, which is a second call of a tool that takes its time.
    """
    tool = find_tool(environ)
    if tool is None:
        return Inventory(chips=None, code="no_tool", why="npu-smi is not on PATH")
    try:
        heard = run((str(tool), "info"), environ, TIMEOUT_S)
    except OSError as error:
        return Inventory(chips=None, code="no_tool", why=f"{tool} cannot be started: {error.strerror}")
    try:
        seen = npu_smi.table(heard.text)
    except npu_smi.UnknownTable as error:
        if heard.timed_out:
            return Inventory(chips=None, code="no_answer", why=f"npu-smi info took longer than {TIMEOUT_S:g} s")
        if npu_smi.has_no_right(heard.text):
            return Inventory(chips=None, code="no_right", why="npu-smi may not open the devices (-8005)")
        return Inventory(chips=None, code="unknown_table", why=f"npu-smi info is of an unknown form: {error}")
    return npu_smi.merged(seen, _places(run, tool, environ) if is_mapped else ())


def pulse(run: Runner, environ: Mapping[str, str], place: tuple[int, int]) -> Pulse | None:
    """Clock, load and temperature of the chip at (card, chip) now; None where they are not told."""
    tool = find_tool(environ)
    if tool is None:
        return None
    try:
        heard = run((str(tool), "info", "-t", "common", "-i", str(place[0])), environ, TIMEOUT_S)
    except OSError:
        return None
    return npu_smi.pulse(heard.text, place[1])


def _places(run: Runner, tool: Path, environ: Mapping[str, str]) -> tuple[Place, ...]:
    """The map of ids; a version without it counts chips in the order of the table."""
    try:
        return npu_smi.places(run((str(tool), "info", "-m"), environ, TIMEOUT_S).text)
    except (OSError, npu_smi.UnknownTable):
        return ()
