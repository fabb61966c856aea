"""What an Ascend host says of its NPUs: chips, who uses them, how they are numbered, how they feel."""

from __future__ import annotations

from msgspec import Struct


class Chip(Struct, frozen=True, kw_only=True):
    """One chip (or one die of a card) as a row of `npu-smi info` shows it.

    `npu_id` is the card, `chip_id` the chip on it. `logic_id` is what ASCEND_RT_VISIBLE_DEVICES and the driver count,
    `physical_id` what the whole host agrees on. Megabytes are those of npu-smi (2^20 bytes).
    """

    npu_id: int
    chip_id: int
    name: str
    health: str
    logic_id: int | None = None
    physical_id: int | None = None
    bus: str | None = None
    aicore_percent: float | None = None
    memory_used_mb: int | None = None
    memory_total_mb: int | None = None
    power_w: float | None = None
    temperature_c: float | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Card and chip."""
        return self.npu_id, self.chip_id


class Process(Struct, frozen=True, kw_only=True):
    """A process with a context on a chip. `chip_id` is None where the table has no such column (950)."""

    npu_id: int
    chip_id: int | None
    pid: int
    name: str | None
    memory_mb: int | None


class Table(Struct, frozen=True, kw_only=True):
    """`npu-smi info`, read. `processes` is None where the version prints no process table: not known, not none."""

    version: str | None
    chips: tuple[Chip, ...]
    processes: tuple[Process, ...] | None
    warnings: tuple[str, ...] = ()


class Place(Struct, frozen=True, kw_only=True):
    """A row of `npu-smi info -m`: which logic and physical id a chip has. None where the version has no such column."""

    npu_id: int
    chip_id: int
    logic_id: int | None
    physical_id: int | None
    name: str


class Pulse(Struct, frozen=True, kw_only=True):
    """One chip at one moment, from `npu-smi info -t common`. `rated_mhz` is the clock that the chip is sold with."""

    clock_mhz: float | None
    rated_mhz: float | None
    aicore_percent: float | None
    memory_percent: float | None
    temperature_c: float | None
    power_w: float | None
    aicore_count: int | None


class Inventory(Struct, frozen=True, kw_only=True):
    """The NPUs of this host in the order of their logic ids; `chips` is None where that is not known, `why` says it.

    `code` names the trouble: no_tool, no_right, no_answer, unknown_table; None when all is known.
    """

    chips: tuple[Chip, ...] | None
    processes: tuple[Process, ...] | None = None
    version: str | None = None
    code: str | None = None
    why: str | None = None


class Use(Struct, frozen=True, kw_only=True):
    """Who uses one device and how it feels at one moment. `processes` is None where no table tells them."""

    processes: tuple[Process, ...] | None
    memory_used_mb: int | None
    memory_total_mb: int | None
    aicore_percent: float | None
    health: str


class Finding(Struct, frozen=True, kw_only=True):
    """Something about the installation that a user should know; with `is_fatal` nothing can be measured."""

    code: str
    message: str
    hint: str | None = None
    is_fatal: bool = False
