"""What a PROF folder says of itself: the devices, their cores and clocks, the versions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from msprun.reader import tree
from msprun.reader.reading import Complaint, Complaints

# Facts are a few kilobytes; what is longer is something else.
FACTS_BYTES = 1 << 20
_DEVICE = re.compile(r"device_(\d+)")
_INFO = re.compile(r"info\.json(\.\d+)?")


class ProfDevice(Struct, frozen=True, kw_only=True):
    """One device as the process numbered it. Cores are those of the chip, clocks its rated ones; None: not recorded.

    `platform_version`: 0 = 310, 1 = 910A, 4 = 310P, 5 = 910B and A3, 7 = 310B, 15 and 16 = 950.
    """

    device: int
    cube_cores: int | None = None
    vector_cores: int | None = None
    cube_mhz: float | None = None
    vector_mhz: float | None = None
    platform_version: int | None = None


class Prof(Struct, frozen=True, kw_only=True):
    """A PROF folder; versions as they are written there."""

    devices: tuple[ProfDevice, ...]
    driver_version: str | None
    cann_version: str | None
    complaints: tuple[Complaint, ...]


def facts(folder: Path) -> Prof:
    """The facts of a PROF folder. A file that cannot be read is a complaint, its facts are None."""
    heard = Complaints(folder)
    host = _info(folder / "host", folder, heard)
    numbers = sorted((int(found[1]), place) for place in _folders(folder) if (found := _DEVICE.fullmatch(place.name)))
    infos = [(number, _info(place, folder, heard)) for number, place in numbers]
    every = [host, *(info for _, info in infos)]
    return Prof(
        devices=tuple(_device(number, info) for number, info in infos),
        driver_version=_first(every, "drvVersion"),
        cann_version=_first(every, "cannVersion"),
        complaints=heard.all(),
    )


def _device(number: int, info: Mapping[str, Any]) -> ProfDevice:
    listed = info.get("DeviceInfo")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return ProfDevice(
        device=number,
        cube_cores=_whole(first.get("ai_core_num")),
        vector_cores=_whole(first.get("aiv_num")),
        cube_mhz=_mhz(first.get("aic_frequency")),
        vector_mhz=_mhz(first.get("aiv_frequency")),
        platform_version=_whole(info.get("platform_version")),
    )


def _info(place: Path, folder: Path, heard: Complaints) -> dict[str, Any]:
    """The facts of one part, empty where there are none."""
    for path in sorted(place.iterdir() if place.is_dir() and tree.is_inside(place, folder) else ()):
        if not (_INFO.fullmatch(path.name) and tree.is_inside(path, folder) and path.is_file()):
            continue
        try:
            with path.open("rb") as file:
                told = json.loads(file.read(FACTS_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            heard.add("unreadable", None, f"{place.name}/{path.name} holds no facts: {error}")
            continue
        if isinstance(told, dict):
            return told
        heard.add("unreadable", None, f"{place.name}/{path.name} holds no facts")
    return {}


def _folders(folder: Path) -> Iterator[Path]:
    yield from (path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()


def _first(infos: list[dict[str, Any]], key: str) -> str | None:
    values = (info.get(key) for info in infos)
    return next((str(value) for value in values if isinstance(value, str | int) and f"{value}".strip()), None)


def _whole(value: Any) -> int | None:
    """Numbers are written as numbers or as text."""
    number = _mhz(value)
    return int(number) if number is not None and number.is_integer() else None


def _mhz(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < float("inf") else None
