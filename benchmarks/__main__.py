"""`python -m benchmarks [--quick] [--rows 1,2,3]`: time everything in one run, show it, keep it as JSON."""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks import answers, emulation, first_session, machine, on_npu, page, tables, twenty_cases
from benchmarks.outcome import Outcome, row
from benchmarks.pairs import Timed, interleaved
from benchmarks.place import HERE, Broken, Place, this_msprun
from benchmarks.targets import TARGETS

Known = dict[str, tuple[float, ...]]


class Part(NamedTuple):
    """The contenders of a row and its rounds: all, and with --quick.

    `why_not` says why they cannot be had here, `sums` makes further seconds of theirs, `counts` counts what they did.
    """

    contenders: Callable[[Place], dict[str, Timed]]
    rounds: tuple[int, int]
    why_not: Callable[[], str | None] = lambda: None
    sums: Callable[[Known], Known] = lambda seconds: {}
    counts: Callable[[Place], Known] = lambda place: {}


PARTS = {
    1: Part(twenty_cases.contenders, (twenty_cases.ROUNDS, twenty_cases.ROUNDS_QUICK)),
    2: Part(on_npu.counted, (1, 1), emulation.why_not, counts=on_npu.counts),
    3: Part(on_npu.contenders, (on_npu.ROUNDS, on_npu.ROUNDS_QUICK), emulation.why_not, sums=on_npu.allowances),
    4: Part(tables.contenders, (tables.ROUNDS, tables.ROUNDS_QUICK)),
    5: Part(answers.contenders, (answers.ROUNDS, answers.ROUNDS_QUICK)),
    6: Part(first_session.contenders, (first_session.ROUNDS, first_session.ROUNDS_QUICK)),
}


class Findings:
    """What is known so far: seconds, counts, notes, failures, and why a contender is absent."""

    def __init__(self) -> None:
        self.seconds: Known = {}
        self.counts: Known = {}
        self.absent: dict[str, str] = {"npu compare sessions": "not built"}
        self.notes: list[str] = []
        self.failures: list[str] = []

    def time(self, number: int, place: Place, is_quick: bool) -> None:
        """Time one row. What does not run is a failure, and the other rows go on."""
        part = PARTS[number]
        if (why := part.why_not()) is not None:
            self.absent = dict.fromkeys(names(number), why) | self.absent
            return
        contenders = part.contenders(place)
        if "completion" in contenders and not answers.completes(place):
            del contenders["completion"]
            self.absent["completion"] = "not built"
        try:
            found = interleaved(contenders, part.rounds[is_quick], lambda text: _say(f"row {number}, {text}"))
        except Broken as error:
            self.failures.append(f"row {number}: {error}")
            self.absent = dict.fromkeys(names(number), "did not run") | self.absent
            return
        self.seconds |= found | part.sums(found)
        self.counts |= part.counts(place)

    def look_at_imports(self, place: Place) -> None:
        """Which heavy libraries come in before the first session: none should."""
        try:
            found = first_session.imported_before(place)
        except Broken as error:
            self.failures.append(f"row 6: {error}")
            return
        words = f"misses: {', '.join(found)}" if found else f"holds (nor {', '.join(first_session.HEAVY[1:])})"
        self.notes.append(f"no pandas before the first session: {words}")


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 1 when something did not run; figures are figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run, and roughly how fast")
    parser.add_argument(
        "--rows", type=_rows, default=",".join(map(str, PARTS)), help="which rows (default: %(default)s)"
    )
    asked = parser.parse_args(argv)
    try:
        outcome = measure(asked.rows, asked.quick)
    except KeyboardInterrupt:
        print("benchmarks: interrupted", file=sys.stderr)
        return 130
    page.show(outcome)
    print(f"Results: {save(outcome, HERE / 'results')}")
    return 1 if outcome.failures else 0


def measure(rows: Sequence[int], is_quick: bool) -> Outcome:
    """Time the rows, one after the other."""
    findings = Findings()
    began, start, before = time.strftime("%Y-%m-%dT%H:%M:%S%z"), time.monotonic(), machine.load()
    with tempfile.TemporaryDirectory(prefix="msprun-bench-") as folder:
        place = Place(Path(folder), (sys.executable,), this_msprun())
        for number in rows:
            findings.time(number, place, is_quick)
        if 6 in rows:
            findings.look_at_imports(place)
        if "msprun reader" in findings.seconds:
            findings.notes.append(tables.note(place.folder))
    if not {2, 3}.isdisjoint(rows):
        findings.notes.append(emulation.NOTE)
    if 1 in rows:
        rounds = twenty_cases.ROUNDS_QUICK if is_quick else twenty_cases.ROUNDS
        findings.notes.append(twenty_cases.note(rounds))
    return Outcome(
        began=began,
        took_s=time.monotonic() - start,
        is_quick=is_quick,
        machine=machine.describe(),
        load_before=before,
        load_after=machine.load(),
        rows=tuple(row(t, findings.seconds | findings.counts, findings.absent) for t in TARGETS if t.row in rows),
        notes=tuple(findings.notes),
        failures=tuple(findings.failures),
        seconds=findings.seconds,
        counts=findings.counts,
    )


def names(number: int) -> set[str]:
    """What the targets of a row speak of."""
    return {name for t in TARGETS if t.row == number for name in (t.mine, t.theirs) if name is not None}


def save(outcome: Outcome, folder: Path) -> Path:
    """Write `<time>.json` below a folder; its path. What is there stays."""
    folder.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{stamp}-{number}.json" if number else f"{stamp}.json" for number in itertools.count())
    path = next(folder / name for name in names if not (folder / name).exists())
    path.write_bytes(msgspec.json.format(msgspec.json.encode(outcome), indent=1) + b"\n")
    return path


def _rows(text: str) -> list[int]:
    rows = text.split(",")
    if not set(rows) <= set(map(str, PARTS)):
        raise argparse.ArgumentTypeError(f"rows are {', '.join(map(str, PARTS))}, not {text}")
    return [int(row) for row in rows]


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
