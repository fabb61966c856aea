"""What a PROF folder says of its devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msprun.reader.prof import ProfDevice, facts

NEW = "PROF_000001_20260605161708478_00004711ABCDEFGH"
OLD = "PROF_000001_20260605161708478_FRJKORBPFMHQMGLA"


def write(folder: Path, place: str, told: Any, name: str = "info.json.0") -> None:
    path = folder / place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told))


def info(**more: Any) -> dict[str, Any]:
    device = {"id": 0, "ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": "1800"}
    return {"platform_version": "5", "devices": "0", "DeviceInfo": [device], **more}


def test_the_facts_of_a_folder_of_today(tmp_path: Path) -> None:
    folder = tmp_path / NEW
    write(folder, "host", {"drvVersion": 467732, "cannVersion": "8.3.RC2"}, "info.json")
    write(folder, "device_1", info())
    write(folder, "device_10", info(platform_version=15, DeviceInfo=[{"ai_core_num": 32, "aiv_num": 64}]))
    found = facts(folder)
    assert (found.driver_version, found.cann_version) == ("467732", "8.3.RC2")
    assert found.devices == (
        ProfDevice(device=1, cube_cores=24, vector_cores=48, cube_mhz=1800, vector_mhz=1800, platform_version=5),
        ProfDevice(device=10, cube_cores=32, vector_cores=64, platform_version=15),
    )
    assert found.complaints == ()


@pytest.mark.parametrize(
    "told",
    ["", "{", "[]", "null", "1", '{"DeviceInfo": 1}', '{"DeviceInfo": [1]}', '{"DeviceInfo": [{"ai_core_num": {}}]}',
     '{"DeviceInfo": [{"ai_core_num": "many", "aic_frequency": -1, "aiv_frequency": "inf", "aiv_num": true}]}',
     "[" * 100_000, "\x00"],
)  # fmt: skip
def test_broken_facts_are_not_known(tmp_path: Path, told: str) -> None:
    folder = tmp_path / NEW
    write(folder, "device_0", told)
    assert facts(folder).devices == (ProfDevice(device=0),)


def test_broken_facts_are_said(tmp_path: Path) -> None:
    write(tmp_path / NEW, "device_0", "{")
    (complaint,) = facts(tmp_path / NEW).complaints
    assert complaint.code == "unreadable" and complaint.what.startswith("device_0/info.json.0 holds no facts: ")


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / NEW
    write(tmp_path, "elsewhere", info())
    folder.mkdir()
    (folder / "device_0").symlink_to(tmp_path / "elsewhere")
    assert facts(folder).devices == (ProfDevice(device=0),)


def test_a_folder_that_is_not_there_has_no_facts(tmp_path: Path) -> None:
    assert facts(tmp_path / OLD).devices == ()
