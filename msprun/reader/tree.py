"""Which files are the table: of several PROF folders and exports one, with its slices, in the layouts of all years."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from msprun.reader.reading import Complaint, Fault

# msprof cuts a table after so many rows: a part of fewer is the last one.
SLICE_ROWS = 1_000_000
OUTPUTS = ("mindstudio_profiler_output", "ASCEND_PROFILER_OUTPUT")
_PROF = re.compile(r"PROF_.+|.+_ascend_pt")
# PROF_<number>_<17 digits of local time>_<16 signs> and <worker>_<pid>_<17 digits>_ascend_pt
_STARTED = re.compile(r"_(\d{17})_")
_BLOCK = 1 << 20


class Export(Struct, frozen=True, kw_only=True):
    """The files of one export, in order; `slices` are their numbers, empty where nothing was sliced."""

    root: Path
    stamp: str
    files: tuple[Path, ...]
    slices: tuple[int, ...] = ()

    @property
    def gaps(self) -> tuple[int, ...]:
        """Numbers of parts that are not there though later ones are."""
        return tuple(sorted(set(range(max(self.slices, default=-1) + 1)) - set(self.slices)))


class Choice(Struct, frozen=True, kw_only=True):
    """The export to read, None where there is none, and what is to be said of the others."""

    export: Export | None
    complaints: tuple[Complaint, ...]


def profs(folder: Path) -> tuple[Path, ...]:
    """The PROF_... and ..._ascend_pt folders directly in a folder (itself, where it is one), the oldest first.

    Behind a ..._ascend_pt folder comes the PROF_... inside of it, which torch_npu's profiler had msprof export.
    """
    outer = (folder,) if _PROF.fullmatch(folder.name) else _inside(folder)
    return tuple(root for place in outer for root in (place, *_inside(place)))


def _inside(folder: Path) -> tuple[Path, ...]:
    found = [path for path in _entries(folder) if _PROF.fullmatch(path.name) and is_inside(path, folder)]
    return tuple(sorted((path for path in found if path.is_dir()), key=lambda path: (_started(path), path.name)))


def choose(folder: Path, table: str, is_sound: Callable[[Path], bool]) -> Choice:
    """The export of a table in a session's folder, a PROF folder, or the folder of the files themselves.

    Of several processes that used the device, and of several exports of one, that with more rows is read, ties for the
    newer; before all, its files must all be there and sound. `is_sound` looks at a file's header and end.
    """
    complaints: list[Complaint] = []
    roots = [root for root in dict.fromkeys((folder, *profs(folder))) if _is_here(root, folder, complaints)]
    exports = [export for root in roots for export in _exports(root, table, folder, complaints)]
    if not exports:
        complaints.append(_said(folder, "absent", f"there is no {table} table"))
        return Choice(export=None, complaints=tuple(complaints))
    best = _best(exports, is_sound)
    for export in exports:
        if export is not best:
            why = "of another process or run" if export.root != best.root else "another export of the same data"
            complaints.append(_said(export.files[0], "left_out", f"not read, {why}: {best.files[0].name} was"))
    for gap in best.gaps:
        complaints.append(_said(best.files[0], "missing_part", f"part {gap} of {table} is not there"))
    return Choice(export=best, complaints=tuple(complaints))


def data_lines(path: Path) -> int:
    """How many lines follow the first. Raises OSError."""
    lines, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            lines += block.count(b"\n")
            last = block[-1:]
    return max(0, lines + (last != b"\n") - 1)


def _best(exports: Sequence[Export], is_sound: Callable[[Path], bool]) -> Export:
    if len(exports) == 1:
        return exports[0]
    whole = {export: not export.gaps and all(map(is_sound, export.files)) for export in exports}
    return max(exports, key=lambda e: (whole[e], sum(map(_lines, e.files)), _started(e.root), e.stamp))


def _lines(path: Path) -> int:
    try:
        return data_lines(path)
    except OSError:
        return 0


def _exports(root: Path, table: str, folder: Path, complaints: list[Complaint]) -> list[Export]:
    """The exports of one PROF folder: those of today, else the one of the old layout."""
    name = re.compile(rf"{table}((?:_\d+)*?)(?:_slice_(\d+))?((?:_\d+)*)\.csv")
    places = [root, *(root / output for output in OUTPUTS)]
    found = list(_files(places, name, folder, complaints))
    if not found:
        old = [path / "summary" for path in _entries(root) if re.fullmatch(r"device_\d+|host", path.name)]
        found = list(_files(sorted(old), name, folder, complaints))
    stamped: list[tuple[str, int | None, Path]] = []
    old_style: list[Path] = []
    for path, (before, number, behind) in found:
        stamp = (before + behind).strip("_")
        # <table>_<device>_<model>_<iteration>.csv: each holds what the others do not.
        if "_" in stamp:
            old_style.append(path)
        else:
            stamped.append((stamp, None if number is None else int(number), path))
    made = [Export(root=root, stamp="", files=tuple(sorted(old_style, key=_natural)))] if old_style else []
    return [*made, *_sets(root, sorted(stamped, key=lambda entry: (entry[0], entry[1] or 0)))]


def _sets(root: Path, stamped: Iterable[tuple[str, int | None, Path]]) -> Iterator[Export]:
    """Exports, the oldest first. Parts of one may differ by seconds in their names: a number seen before begins another
    export.
    """
    parts: dict[int, tuple[str, Path]] = {}
    for stamp, number, path in stamped:
        if number is None:
            yield Export(root=root, stamp=stamp, files=(path,))
            continue
        if number in parts:
            yield _sliced(root, parts)
            parts = {}
        parts[number] = (stamp, path)
    if parts:
        yield _sliced(root, parts)


def _sliced(root: Path, parts: dict[int, tuple[str, Path]]) -> Export:
    numbers = sorted(parts)
    files = tuple(parts[number][1] for number in numbers)
    return Export(root=root, stamp=max(stamp for stamp, _ in parts.values()), files=files, slices=tuple(numbers))


def _files(
    places: Iterable[Path], name: re.Pattern[str], folder: Path, complaints: list[Complaint]
) -> Iterator[tuple[Path, tuple[str, str | None, str]]]:
    """The regular files of this name, and what the name says; of others of the name that they are none."""
    for place in places:
        if not _is_here(place, folder, complaints):
            continue
        for path in sorted(_entries(place)):
            if (match := name.fullmatch(path.name)) and _is_file(path, folder, complaints):
                yield path, (match[1], match[2], match[3])


def _is_file(path: Path, folder: Path, complaints: list[Complaint]) -> bool:
    if not _is_here(path, folder, complaints):
        return False
    try:
        is_regular = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        complaints.append(_said(path, "unreadable", f"it cannot be read: {error.strerror}"))
        return False
    if not is_regular:
        complaints.append(_said(path, "unreadable", "this is no file"))
    return is_regular


def _is_here(path: Path, folder: Path, complaints: list[Complaint]) -> bool:
    """Whether something is there and in the folder; a link that leads out of it is a complaint."""
    if is_inside(path, folder):
        return True
    complaints.append(_said(path, "unreadable", "a link that leads out of the folder"))
    return False


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, lies in a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link to itself
        return False


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _started(root: Path) -> str:
    found = _STARTED.search(root.name)
    return found[1] if found else ""


def _natural(path: Path) -> list[str | int]:
    return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", str(path))]


def _said(file: Path, code: Fault, what: str) -> Complaint:
    return Complaint(file=file, line=None, code=code, what=what)


def device_of(path: Path, root: Path) -> int | None:
    """The device of a table that does not say it: that of its folder in the old layout, else the only one there is."""
    if own := re.fullmatch(r"device_(\d+)", path.parent.parent.name):
        return int(own[1])
    inner = [entry for entry in _entries(root) if _PROF.fullmatch(entry.name)]
    numbers = {int(found[1]) for place in (root, *inner) for found in _devices(place)}
    return numbers.pop() if len(numbers) == 1 else None


def _devices(folder: Path) -> Iterator[re.Match[str]]:
    yield from (found for entry in _entries(folder) if (found := re.fullmatch(r"device_(\d+)", entry.name)))
