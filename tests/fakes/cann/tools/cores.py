"""Numbers of the cores that counters are read from: those of the die, on which every chip has some switched off."""

from __future__ import annotations

from tools.chips import Chip
from tools.faults import seeded

# What the numbers of the second die of an A3 begin with.
ODD_DIE = 32768


def numbers(chip: Chip, physical: int) -> tuple:
    """(cube cores, vector cores) of a device, ascending; unsplit cores are the first, and there is no second."""
    if not chip.split:
        return list(range(chip.cubes)), []
    if chip.family == "950":
        return _on_two_dies(chip, physical)
    first = ODD_DIE if chip.family == "A3" and physical % 2 else 0
    kept = _kept(25, chip.cubes, physical)
    return [first + n for n in kept], [first + n for n in _pairs(25, kept)]


def _on_two_dies(chip: Chip, physical: int) -> tuple:
    """Cubes from 0 and from 54, vectors from 18 and from 72."""
    kept = [_kept(17, chip.cubes // 2, physical, die) for die in range(2)]
    cubes = kept[0] + [54 + n for n in kept[1]]
    return cubes, _pairs(18, kept[0]) + _pairs(72, kept[1])


def _pairs(first: int, cubes: list) -> list:
    """Two vector cores belong to each cube core."""
    return [first + 2 * cube + n for cube in cubes for n in range(2)]


def _kept(room: int, count: int, *what: int) -> list:
    """Which cores of a die are on: the same ones of a device every time."""
    return sorted(seeded("cores", *what).sample(range(room), count))
