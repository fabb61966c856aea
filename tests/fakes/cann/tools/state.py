"""The devices of the fake host and what npu-smi can know of them: health.json, and who is alive on them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tools.chips import chip
from tools.faults import faults

# MB that the driver itself holds, and what is there in all, by family of the table.
IDLE_MB = {"910B": 3400, "A3": 3400, "310P": 1844, "950": 6056}
IDLE_MHZ = 800


@dataclass(frozen=True)
class Place:
    """One chip: its card, its number on the card, its physical id, and its number in this container."""

    npu: int
    chip: int
    physical: int
    logic: int


def layout() -> str:
    """Which of the four tables a chip has; 910A's looks like 910B's."""
    return "910B" if chip().board == "910ProB" else chip().family


def places() -> list:
    """Every chip, in the order of npu-smi.

    FAKE_CANN_NPUS names cards, which on A3 have two dies each; FAKE_CANN_DEVICES physical ids, in the same order.
    """
    cards, devices = numbers("FAKE_CANN_NPUS"), numbers("FAKE_CANN_DEVICES")
    dies = 2 if chip().family == "A3" else int(os.environ.get("FAKE_CANN_CHIPS_PER_CARD", "1"))
    if not cards:
        found = devices or [0]
        return [Place(p // dies, p % dies, p, logic) for logic, p in enumerate(found)]
    pairs = [(card, die) for card in cards for die in range(dies)]
    if len(devices) != len(pairs):
        # A 310P server counts its cards by their place on the bus.
        counts = chip().family == "310P"
        devices = [n if counts else card * dies + die for n, (card, die) in enumerate(pairs)]
    return [Place(card, die, p, logic) for logic, ((card, die), p) in enumerate(zip(pairs, devices))]


def numbers(variable: str) -> list:
    """A comma list of whole numbers."""
    return [int(word) for word in os.environ.get(variable, "").split(",") if word.strip()]


class State:
    """What is known of one device; every word may be set in health.json under its physical id."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.words = known().get(str(place.physical), {})
        self.processes = self.words.get("processes", []) + living(place.physical)

    @property
    def health(self) -> str:
        return self.words.get("health", "OK")

    @property
    def load(self) -> int:
        """AI core % at this moment: 0 also where a process sits and does nothing."""
        return int(self.words.get("load", 0))

    @property
    def temperature(self) -> int:
        return int(self.words.get("temperature", 36 + self.place.logic))

    @property
    def power(self) -> str:
        """Watts; cards of 310P do not tell, nor does the second die of a card."""
        if layout() == "310P":
            return "NA"
        return "-" if self.place.chip else "%.1f" % self.words.get("power", 92.8)

    @property
    def used_mb(self) -> int:
        """What the driver holds, what processes hold, and what dead ones have not given back."""
        if "used_mb" in self.words:
            return int(self.words["used_mb"])
        held = sum(int(process.get("memory_mb", 0)) for process in self.processes)
        return IDLE_MB[layout()] + self.place.logic + held + int(self.words.get("memory_mb", 0))

    @property
    def mhz(self) -> int:
        """The clock now: a device without work slows down."""
        return int(self.words.get("mhz", chip().mhz) if self.processes else self.words.get("idle_mhz", IDLE_MHZ))

    @property
    def total_mb(self) -> int:
        return int(self.words.get("total_mb", chip().hbm_mb))

    @property
    def bus(self) -> str:
        return self.words.get("bus", "0000:%02X:00.0" % (0xC1 - 2 * self.place.physical % 0xC0))

    def share(self) -> int:
        """Used memory in %."""
        return 100 * self.used_mb // self.total_mb


def known() -> dict:
    """health.json, empty where there is none."""
    try:
        return json.loads((folder() / "health.json").read_text())
    except (OSError, ValueError):
        return {}


def folder() -> Path:
    """The state folder."""
    return Path(os.environ.get("FAKE_CANN_STATE", "/nonexistent"))


def living(physical: int) -> list:
    """The processes that have opened a device and are alive."""
    found = []
    for log in sorted(folder().glob("device-*.jsonl")):
        pid = int(log.stem.partition("-")[2])
        if alive(pid) and physical in opened(log):
            name = "" if "smi_blank_names" in faults() else command(pid)
            found.append({"pid": pid, "name": name, "memory_mb": 141})
    return found


def opened(log: Path) -> list:
    """The physical ids that a process holds: its first lines, unless its last one says that it has let go."""
    with open(log, "rb") as file:
        head = file.read(4096).split(b"\n")
        file.seek(max(0, log.stat().st_size - 4096))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    if b'"t": "exit"' in last:
        return []
    return [json.loads(line)["physical"] for line in head[:-1] if b'"t": "process"' in line]


def alive(pid: int) -> bool:
    """Whether a process runs; who is dead and not yet buried does not."""
    try:
        return Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def command(pid: int) -> str:
    """The name of a process, empty where it has gone."""
    try:
        return Path("/proc/%d/comm" % pid).read_text().strip()
    except OSError:
        return ""
