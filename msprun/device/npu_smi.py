"""The texts of npu-smi, read by what stands between the bars and in the heads of columns, never by position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from msprun import soc
from msprun.model.npu import Chip, Inventory, Place, Process, Pulse, Table

_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_BUS = re.compile(r"[0-9A-Fa-f]{4}:\S+")
_TITLE = re.compile(r"npu-smi\s+(\S+)")
_MAP_HEADS = re.compile(r"NPU ID|Slot ID|Chip ID|Chip Logic ID|Chip Phy-ID|Chip Name")
_NO_RIGHT = re.compile(r"-8005\b|permission denied", re.IGNORECASE)
_MICRO_CONTROLLER = "mcu"
# The number of a line of the text, and the cells between its bars.
_Row = tuple[int, list[str]]


class UnknownTable(ValueError):
    """A table that is none of the known ones; what it says must not be guessed."""


class Head(Struct, frozen=True, kw_only=True):
    """What the two header rows promise: the id column beside the chip's (Phy-ID, Device, none) and the memories."""

    cells: int
    numbering: str | None
    has_hbm: bool


def table(text: str) -> Table:
    """`npu-smi info`. Raises UnknownTable, naming the line, for a form that is not known.

    A process table that cannot be read leaves `processes` None and a warning: the chips are still worth knowing.
    """
    rows = list(_rows(text))
    start = next((i for i, (_, cells) in enumerate(rows) if "Health" in cells), None)
    if start is None or start + 1 == len(rows):
        raise UnknownTable("it has no known head of columns")
    middle = next((i for i, (_, cells) in enumerate(rows) if "Process id" in cells), len(rows))
    chips = _chips(_head(rows[start], rows[start + 1]), rows[start + 2 : middle])
    warnings = _outside(text)
    processes: tuple[Process, ...] | None = None
    try:
        if middle < len(rows):
            processes = tuple(_processes(rows[middle][1], rows[middle + 1 :]))
    except UnknownTable as error:
        warnings += (str(error),)
    title = _TITLE.search(text)
    return Table(version=title[1] if title else None, chips=chips, processes=processes, warnings=warnings)


def places(text: str) -> tuple[Place, ...]:
    """`npu-smi info -m`, micro controllers left out. Raises UnknownTable where its head is not known."""
    lines = [line for line in text.splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if "NPU ID" in line and "Chip Name" in line), None)
    if start is None:
        raise UnknownTable("its head is not known")
    heads = _MAP_HEADS.findall(lines[start])
    found = []
    for line in lines[start + 1 :]:
        words = line.split(None, len(heads) - 1)
        if len(words) < len(heads):
            continue
        row = dict(zip(heads, words, strict=True))
        logic, physical = _whole(row.get("Chip Logic ID")), _whole(row.get("Chip Phy-ID"))
        if row["Chip Name"].strip().casefold() != _MICRO_CONTROLLER and (logic, physical) != (None, None):
            npu_id, chip_id = _whole(row["NPU ID"]), _whole(row.get("Chip ID"))
            if npu_id is None or chip_id is None:
                raise UnknownTable(f"a row is not known: {line.strip()}")
            name = row["Chip Name"].strip()
            found.append(Place(npu_id=npu_id, chip_id=chip_id, logic_id=logic, physical_id=physical, name=name))
    return tuple(found)


def pulse(text: str, chip_id: int) -> Pulse | None:
    """One chip of `npu-smi info -t common -i CARD`; None where nothing of it is known.

    Each chip of the card has a block of its own that begins with its id, and the card's micro controller one that
    begins with its name and has a temperature of its own. Some versions print one chip without its id.
    """
    blocks: dict[int | None, dict[str, str]] = {None: {}}
    block: dict[str, str] = blocks[None]
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        key, value = "".join(key.split()).casefold(), value.strip()
        if key == "chipid" and (number := _whole(value)) is not None:
            block = blocks.setdefault(number, {})
        elif key == "chipname":
            block = {}
        elif colon:
            block.setdefault(key, value)
    return _pulse(blocks[None] if len(blocks) == 1 else blocks.get(chip_id, {}))


def merged(seen: Table, mapped: Sequence[Place]) -> Inventory:
    """Chips with their ids, in the order of their logic ids.

    Where neither table nor map tells a logic id the driver's own order is taken: it counts chips as they are listed.
    A card's number is its chip's physical id only where every card has one chip and no column says otherwise.
    """
    known = {(place.npu_id, place.chip_id): place for place in mapped}
    seen = replace(seen, chips=_apart(seen.chips))
    is_single = len({chip.npu_id for chip in seen.chips}) == len(seen.chips)
    is_numbered = any(chip.logic_id is not None or chip.physical_id is not None for chip in seen.chips)
    is_named = any(place.physical_id is not None for place in mapped)
    chips = []
    for order, chip in enumerate(seen.chips):
        place = known.get(chip.place)
        logic = (place.logic_id if place else None) if chip.logic_id is None else chip.logic_id
        physical = (place.physical_id if place else None) if chip.physical_id is None else chip.physical_id
        if physical is None and is_single and not is_numbered and not is_named:
            physical = chip.npu_id
        chips.append(replace(chip, logic_id=order if logic is None else logic, physical_id=physical))
    logics = [chip.logic_id for chip in chips]
    if len(set(logics)) != len(logics):  # a mixture of told and counted ids
        chips = [replace(chip, logic_id=order) for order, chip in enumerate(chips)]
    chips.sort(key=lambda chip: chip.logic_id or 0)
    return Inventory(chips=tuple(chips), processes=seen.processes, version=seen.version)


def has_no_right(text: str) -> bool:
    """npu-smi could not open the devices: containers without the rights for them, or a driver that does not run."""
    return _NO_RIGHT.search(text) is not None


def soc_name(name: str) -> str | None:
    """`Ascend910B2` for `910B2` or `Ascend 910B2`; None for a name that selects no chip of conf/soc.

    That is so of A3, which npu-smi calls Ascend910 as it does the first generation, and of slices such as 310Pvir01.
    """
    joined = "".join(name.split())
    found = soc.find(joined)
    if found is None:
        return None
    plain = joined.casefold().removeprefix("ascend")
    return next((known for known in found.names if known.casefold().removeprefix("ascend") == plain), found.names[0])


def _apart(chips: Sequence[Chip]) -> tuple[Chip, ...]:
    """Each chip once: a container that shares one die of a card is shown it under both numbers of the card's dies."""
    first: dict[object, Chip] = {}
    for chip in chips:
        first.setdefault(chip.place if chip.physical_id is None else chip.physical_id, chip)
    return tuple(first.values())


def _rows(text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), 1):
        framed = line.strip()
        if framed.startswith("|"):
            yield number, [cell.strip() for cell in framed.strip("|").split("|")]


def _outside(text: str) -> tuple[str, ...]:
    """Lines beside the frames: warnings, of an incomplete installation of the driver for instance."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and line[0] not in "+|")


def _head(upper: _Row, lower: _Row) -> Head:
    cells = lower[1]
    if "Bus-Id" not in cells or "NPU" not in upper[1][0] or len(upper[1]) != len(cells) or len(cells) not in (3, 4):
        raise UnknownTable(f"line {upper[0]} begins no known head of columns")
    words = cells[0].split()
    return Head(cells=len(cells), numbering=words[1] if len(words) > 1 else None, has_hbm="HBM-Usage" in cells[-1])


def _chips(head: Head, rows: Sequence[_Row]) -> tuple[Chip, ...]:
    """Chips from their pairs of lines; a card may have one line of its own and one of each chip."""
    found: list[Chip] = []
    top: list[str] = []
    is_open = False
    for number, cells in rows:
        if len(cells) != head.cells:
            raise UnknownTable(f"line {number} has {len(cells)} columns, its head {head.cells}")
        if top and (cells[-2] in ("NA", "-") or _BUS.fullmatch(cells[-2])):
            found.append(_chip(number, head, top, cells))
            is_open = False
        elif is_open:
            raise UnknownTable(f"line {number} is no known second line of a chip")
        else:
            top, is_open = cells, True
    if not found or is_open:
        raise UnknownTable("it shows no whole chip")
    return tuple(found)


def _chip(number: int, head: Head, top: list[str], cells: list[str]) -> Chip:
    card = [top[0], *top[1:2]] if head.cells == 4 else top[0].split(None, 1)
    ids = [_whole(word) for word in cells[0].split()] if head.cells == 3 else [0]
    npu_id = _whole(card[0])
    if npu_id is None or len(card) != 2 or not ids or None in ids:
        raise UnknownTable(f"line {number} belongs to no chip that is known")
    own = ids[1] if len(ids) > 1 else None
    values = cells[-1].split()
    pairs = _PAIR.findall(cells[-1])
    memory = pairs[-1] if pairs and head.has_hbm else pairs[0] if pairs else None
    power, temperature = [*(_number(word) for word in top[-1].split()[:2]), None, None][:2]
    return Chip(
        npu_id=npu_id,
        chip_id=ids[0] or 0,
        name=card[1].strip(),
        health=top[-2],
        logic_id=own if head.numbering == "Device" else None,
        physical_id=own if head.numbering == "Phy-ID" else None,
        bus=cells[-2] if _BUS.fullmatch(cells[-2]) else None,
        aicore_percent=_number(values[0]) if values else None,
        memory_used_mb=int(memory[0]) if memory else None,
        memory_total_mb=int(memory[1]) if memory else None,
        power_w=power,
        temperature_c=temperature,
    )


def _processes(names: list[str], rows: Sequence[_Row]) -> Iterator[Process]:
    for number, cells in rows:
        if len(cells) > 1:
            yield _process(number, names, cells)
        elif not cells[0].startswith("No running process"):
            raise UnknownTable(f"line {number} is no known row of the process table")


def _process(number: int, names: list[str], cells: list[str]) -> Process:
    """A row of the process table, whose columns differ: no chip on 950, one more in shared containers."""
    row = dict(zip(names, cells, strict=False))
    ids = [_whole(word) for word in cells[0].split()]
    pid = _whole(row.get("Process id"))
    if pid is None or not ids or None in ids or ids[0] is None:
        raise UnknownTable(f"line {number} is no known row of the process table")
    memory = next((value for name, value in row.items() if name.startswith("Process memory")), None)
    return Process(
        npu_id=ids[0],
        chip_id=ids[1] if len(ids) > 1 else None,
        pid=pid,
        name=row.get("Process name") or None,
        memory_mb=_whole(memory),
    )


def _pulse(values: dict[str, str]) -> Pulse | None:
    hbm, memory = _number(values.get("hbmusagerate(%)")), _number(values.get("memoryusagerate(%)"))
    load = _number(values.get("aicoreusagerate(%)"))
    found = Pulse(
        clock_mhz=_number(values.get("aicorecurfreq(mhz)")),
        rated_mhz=_number(values.get("aicorefreq(mhz)")),
        aicore_percent=_number(values.get("npuutil(%)")) if load is None else load,
        memory_percent=memory if hbm is None else hbm,
        temperature_c=_number(values.get("temperature(c)")),
        power_w=_number(values.get("npureal-timepower(w)")),
        aicore_count=_whole(values.get("aicorecount")),
    )
    return found if any(getattr(found, field) is not None for field in found.__struct_fields__) else None


def _whole(word: str | None) -> int | None:
    return int(word) if word is not None and word.strip().isdecimal() else None


def _number(word: str | None) -> float | None:
    """`NA`, `-` and the like are missing values, never zero."""
    return float(word) if word is not None and re.fullmatch(r"\d+(\.\d+)?", word.strip()) else None
