"""The chips that the fake device can be: cores, clocks and names as public tables have them."""

from __future__ import annotations

import os
from dataclasses import dataclass

SPLIT_GROUPS = (
    "PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio", "L2Cache",
)  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """One chip. `family` chooses columns and the table of npu-smi; `hbm_mb` is the device's memory."""

    soc: str
    family: str
    board: str
    cubes: int
    vectors: int
    mhz: int
    hbm_mb: int
    platform_version: int
    groups: tuple

    @property
    def split(self) -> bool:
        """Whether cube and vector cores are separate, which gives the columns their prefixes."""
        return self.family != "310P"


ACCESS = SPLIT_GROUPS + ("MemoryAccess",)
CHIPS = {
    "910B1": Chip("Ascend910B1", "910B", "910B1", 24, 48, 1850, 65536, 5, ACCESS),
    "910B2": Chip("Ascend910B2", "910B", "910B2", 24, 48, 1800, 65536, 5, ACCESS),
    "910B2C": Chip("Ascend910B2C", "910B", "910B2C", 24, 48, 1800, 65536, 5, ACCESS),
    "910B3": Chip("Ascend910B3", "910B", "910B3", 20, 40, 1800, 65536, 5, ACCESS),
    "910B4": Chip("Ascend910B4", "910B", "910B4", 20, 40, 1650, 32768, 5, ACCESS),
    "A3": Chip("Ascend910_9382", "A3", "Ascend910", 24, 48, 1800, 65536, 5, ACCESS),
    "910_9391": Chip("Ascend910_9391", "A3", "Ascend910", 24, 48, 1850, 65536, 5, ACCESS),
    # No L2Cache: msprof stops before it starts the application.
    "310P3": Chip("Ascend310P3", "310P", "310P3", 8, 7, 1080, 21527, 4, SPLIT_GROUPS[:-1]),
    "910ProB": Chip("Ascend910ProB", "310P", "910ProB", 30, 0, 900, 32768, 1, SPLIT_GROUPS[:-1]),
    "950": Chip("Ascend950PR_9579", "950", "Ascend950PR", 28, 56, 1650, 131072, 15, SPLIT_GROUPS),
}


def chip() -> Chip:
    """The chip of FAKE_CANN_CHIP."""
    return CHIPS[os.environ.get("FAKE_CANN_CHIP", "910B2")]


def cann() -> tuple:
    """The release of FAKE_CANN_CANN as numbers: 6.3 (old spelling), 8.3 (`Block Dim`), 9.0 (`Block Num`)."""
    return tuple(int(part) for part in os.environ.get("FAKE_CANN_CANN", "8.3").split(".")[:2])
