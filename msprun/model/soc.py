"""What a chip can do at most, by figures that others have published."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Bound = Literal["memory", "compute"]
Level = Literal["hbm", "l2"]


class Figure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One figure and who says it."""

    value: float
    source: str


Figures = tuple[Figure, ...] | None


class Soc(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A chip, or one die of it. Where sources differ all their figures stand here; None: no public figure.

    Bandwidths count 1e9 bytes a second, peaks 1e12 operations a second, by dtype.
    """

    names: tuple[str, ...]
    family: str
    cube_cores: Figures
    vector_cores: Figures
    clock_mhz: Figures
    memory_gib: Figures
    l2_mib: Figures
    hbm_gb_s: Figures
    l2_gb_s: Figures
    cube_tflop_s: dict[str, Figures]
    vector_tflop_s: Figures

    @property
    def l2_bytes(self) -> int | None:
        """The most that its last cache may hold."""
        mib = highest(self.l2_mib)
        return None if mib is None else int(mib * (1 << 20))

    @property
    def peak_tflop_s(self) -> float | None:
        """The most that any dtype reaches; not known while the figure of the fast 8-bit types is not."""
        known = [peak for figures in self.cube_tflop_s.values() if (peak := highest(figures)) is not None]
        return max(known) if self.cube_tflop_s.get("int8") else None


def highest(figures: Figures) -> float | None:
    """The figure that a floor may rely on: whatever chip of that name it is, it does no more."""
    return max((figure.value for figure in figures), default=None) if figures else None
