"""What the environment asks of the emulation, read once when it is loaded."""

import os

from ._chips import CHIPS
from ._faults import Faults


class Settings:
    """Variables begin with FAKE_CANN_; README.md of the fakes explains them."""

    def __init__(self, environ=os.environ):
        self.state = environ.get("FAKE_CANN_STATE", "")
        self.chip = CHIPS[environ.get("FAKE_CANN_CHIP", "910B2")]
        self.chip_word = environ.get("FAKE_CANN_CHIP", "910B2")
        self.physical = [int(word) for word in environ.get("FAKE_CANN_DEVICES", "0").split(",")]
        self.seed = int(environ.get("FAKE_CANN_SEED", "0"))
        self.noise = float(environ.get("FAKE_CANN_NOISE", "0.005"))
        self.collect = environ.get("FAKE_CANN_COLLECT", "")
        pmu = environ.get("FAKE_CANN_PMU", "off")
        self.has_pmu = bool(self.collect) and pmu not in ("", "off")
        self.queue_ns = int(float(environ.get("FAKE_CANN_QUEUE_US", "4")) * 1000)
        self.hbm_bytes = int(environ.get("FAKE_CANN_HBM_MB", "0")) << 20 or self.chip.hbm_bytes
        self.faults = Faults(environ.get("FAKE_CANN_FAULT", ""), self.state, bool(self.collect))
        self.visible = visible(environ.get("ASCEND_RT_VISIBLE_DEVICES"), self.physical)
        low = self.faults.first("low_clock")
        self.mhz = low.number(0, 800) if low else self.chip.mhz


def visible(mask, physical):
    """The physical ids that this process may use: `mask` counts logic ids, in ascending order, cut at what is none."""
    if mask is None:
        return list(physical)
    chosen = []
    for word in mask.split(","):
        if not (word.isascii() and word.isdigit()) or int(word) >= len(physical):
            break
        if chosen and int(word) <= chosen[-1]:
            return []
        chosen.append(int(word))
    return [physical[logic] for logic in chosen]
