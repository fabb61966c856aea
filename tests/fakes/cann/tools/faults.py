"""FAKE_CANN_FAULT: a comma list of faults, each with an argument behind a colon where it takes one.

The fake device reads the same variable; its faults have names of their own, and conditions behind an @.
"""

from __future__ import annotations

import os
import random
import zlib


def faults() -> dict:
    """Every fault that is asked for with its argument, "" where it has none."""
    words = os.environ.get("FAKE_CANN_FAULT", "").split(",")
    return dict(word.partition("@")[0].strip().partition(":")[::2] for word in words if word.strip())


def asked(name: str, default: int = 1) -> int:
    """How often, or how much of, a fault is wanted; 0 when it is not."""
    found = faults()
    return int(found[name] or default) if name in found else 0


def seeded(*what: object) -> random.Random:
    """Random numbers that the same seed and the same thing get again, in any process."""
    key = "/".join(map(str, (os.environ.get("FAKE_CANN_SEED", "0"),) + what))
    return random.Random(zlib.crc32(key.encode()))
