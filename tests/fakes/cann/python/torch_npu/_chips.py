"""The chips that can be emulated: what their kernels are called and how fast they are."""

from typing import NamedTuple


class Chip(NamedTuple):
    """`name` as get_device_name says it, bandwidths in bytes a microsecond, peak in operations a microsecond."""

    name: str
    is_split: bool
    mhz: int
    cube_cores: int
    vector_cores: int
    hbm_bytes: int
    bandwidth: float
    peak: float


GIB = 1 << 30
CHIPS = {
    "910B1": Chip("Ascend910B1", True, 1850, 24, 48, 64 * GIB, 1.80e6, 3.6e8),
    "910B2": Chip("Ascend910B2", True, 1800, 24, 48, 64 * GIB, 1.75e6, 3.5e8),
    "910B2C": Chip("Ascend910B2C", True, 1800, 24, 48, 64 * GIB, 1.75e6, 3.5e8),
    "910B3": Chip("Ascend910B3", True, 1800, 20, 40, 64 * GIB, 1.75e6, 2.9e8),
    "910B4": Chip("Ascend910B4", True, 1650, 20, 40, 32 * GIB, 0.80e6, 2.7e8),
    "A3": Chip("Ascend910_9382", True, 1800, 24, 48, 64 * GIB, 1.75e6, 3.5e8),
    "910_9391": Chip("Ascend910_9391", True, 1850, 24, 48, 64 * GIB, 1.80e6, 3.6e8),
    "310P3": Chip("Ascend310P3", False, 1080, 8, 8, 21 * GIB, 0.20e6, 0.7e8),
    "910ProB": Chip("Ascend910ProB", False, 900, 30, 30, 32 * GIB, 1.15e6, 2.2e8),
    "950": Chip("Ascend950PR_9579", True, 1650, 28, 56, 128 * GIB, 1.55e6, 3.7e8),
}
