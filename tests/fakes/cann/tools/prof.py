"""PROF folders: their names, their layout, the facts of host and device in them."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

from tools.chips import cann, chip
from tools.faults import faults, seeded

# When the clock of the device began: what it says of itself is not Unix time.
BOOT_NS = 1_700_000_000_123_456_789


def device_clock_ns(unix_ns: int) -> int:
    """A moment in the clock of the device; start_info says where a collection began in both."""
    return unix_ns - BOOT_NS


def name(number: int, pid: int) -> str:
    """The old form ends in 16 letters from A to R, the new one in the padded pid and 8 letters (FAKE_CANN_NAMES)."""
    letters = seeded("name", number, pid, time.time_ns())
    new = os.environ.get("FAKE_CANN_NAMES", "old") == "new"
    random_part = "".join(letters.choice("ABCDEFGHIJKLMNOPQR") for _ in range(8 if new else 16))
    now = time.time()
    stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(now)) + "%03d" % (now % 1 * 1000)
    return "PROF_%06d_%s_%s%s" % (number, stamp, "%08d" % pid if new else "", random_part)


def make(folder: Path, number: int, process: dict, options: dict) -> Path:
    """The folder of one process; its device is called by the number that the process saw."""
    prof = folder / name(number, process["pid"])
    (prof / "host/data").mkdir(parents=True)
    (prof / "host/data/sample.json").write_text(json.dumps(options))
    (prof / "host/start_info").write_text(json.dumps(_start(options)))
    if "no_info" not in faults():
        (prof / "host/info.json").write_text(json.dumps(_info(process, [])))
    add_device(prof, process, options)
    return prof


def add_device(prof: Path, process: dict, options: dict) -> None:
    """The folder of a device in that of a process."""
    device = prof / ("device_%d" % process["device"])
    (device / "data").mkdir(parents=True, exist_ok=True)
    (device / ("start_info.%d" % process["device"])).write_text(json.dumps(_start(options)))
    if "no_info" not in faults():
        (device / ("info.json.%d" % process["device"])).write_text(json.dumps(_info(process, [_device(process)])))


def keep(prof: Path, log: Path, under: str) -> None:
    """Put a log into the folder: as a link while its writer runs, so that it is whole even if nobody comes back."""
    target = prof / under
    if target.exists() or not log.exists():
        return
    try:
        os.link(log, target)
    except OSError:
        # Another file system; a copy would lack what is still to come.
        target.symlink_to(log)


def empty(prof: Path) -> None:
    """What a full disk leaves: the folders, nothing in them."""
    for part in sorted(prof.rglob("*"), reverse=True):
        if part.is_file():
            part.unlink()
        elif part.name == "data":
            part.rmdir()


def query(prof: Path) -> str:
    """The table that a collection ends with."""
    head = ("Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID", "Iteration Number")
    lines = [_columns(head + ("Top Time Iteration", "Rank ID"))]
    for part in [prof / "host"] + sorted(prof.glob("device_*")):
        seconds = part.stat().st_mtime
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) + ".%06d" % (seconds % 1 * 1e6)
        device = part.name.partition("_")[2]
        lines.append(_columns(("NA", device, part.name, when, "N/A", "N/A", "N/A", "-1")))
    return "\n".join(lines)


def _columns(cells: tuple) -> str:
    widths = (16, 16, 16, 32, 11, 17, 24, 7)
    return "".join(cell.ljust(width) for cell, width in zip(cells, widths))


def _start(options: dict) -> dict:
    """The same moment in Unix us and in ns of the clock of the device."""
    seconds = options["start_ns"] / 1e9
    return {
        "clockMonotonicRaw": str(device_clock_ns(options["start_ns"] // 1000 * 1000)),
        "collectionDateBegin": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)),
        "collectionTimeBegin": str(options["start_ns"] // 1000),
    }


def _info(process: dict, devices: list) -> dict:
    return {
        "jobInfo": "NA",
        "hostname": socket.gethostname(),
        "devices": ",".join(str(device["id"]) for device in devices),
        "DeviceInfo": devices,
        "platform_version": str(chip().platform_version),
        "pid": str(process["pid"]),
        "rank_id": -1,
        "drvVersion": 467732,
        "cannVersion": ".".join(map(str, cann())) + ".0",
        "version": "1.0",
    }


def _device(process: dict) -> dict:
    split = chip().split
    return {
        "id": process["device"],
        "ai_core_num": chip().cubes,
        "aiv_num": chip().vectors if split else 0,
        "ai_cpu_core_num": 6,
        "ctrl_cpu_core_num": 1,
        "hwts_frequency": "50.000000",
        "aic_frequency": str(chip().mhz),
        "aiv_frequency": str(chip().mhz) if split else "0",
    }
