"""What a run has seen, line by line: what a killed run leaves behind, and what a resumed one starts from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from msprun.model.measurement import Sample
from msprun.model.result import CaseRow

NAME = "journal.jsonl"


class Seen(Struct, frozen=True, kw_only=True, tag="samples"):
    """Samples that came back from one request."""

    samples: tuple[Sample, ...]


class Known(Struct, frozen=True, kw_only=True, tag="row"):
    """A case as it stood after a step; a later line about it replaces this one."""

    row: CaseRow


class Again(Struct, frozen=True, kw_only=True, tag="again"):
    """A case is measured from the start: what was seen of it before does not count."""

    case: int


Entry = Seen | Known | Again


class Memory(Struct, frozen=True, kw_only=True):
    """What a journal says of each case."""

    rows: dict[int, CaseRow]
    samples: dict[int, tuple[Sample, ...]]


class Journal:
    """Appends to a run folder's journal; every line is on its way to the disk before the next request is made."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / NAME).open("ab", buffering=0)

    def add(self, entry: Entry) -> None:
        """Write one line. Raises OSError when the disk is full."""
        self._file.write(msgspec.json.encode(entry) + b"\n")

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def read(folder: Path) -> Memory:
    """The journal of a run folder, up to a line that was torn by the end of its writer; empty where there is none."""
    rows: dict[int, CaseRow] = {}
    samples: dict[int, list[Sample]] = {}
    for entry in _entries(folder / NAME):
        if isinstance(entry, Known):
            rows[entry.row.case] = entry.row
        elif isinstance(entry, Again):
            rows.pop(entry.case, None)
            samples.pop(entry.case, None)
        else:
            _collect(samples, entry.samples)
    return Memory(rows=rows, samples={case: tuple(seen) for case, seen in samples.items()})


def _collect(samples: dict[int, list[Sample]], seen: Sequence[Sample]) -> None:
    for sample in seen:
        samples.setdefault(sample.case, []).append(sample)


def _entries(path: Path) -> Iterator[Entry]:
    decoder = msgspec.json.Decoder(Entry)
    try:
        with path.open("rb") as file:
            for line in file:
                yield decoder.decode(line)
    except (FileNotFoundError, msgspec.DecodeError):
        return
