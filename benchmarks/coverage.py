"""How often verdicts are wrong, and how often a true difference is found: `python -m benchmarks.coverage [--quick]`."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import machine
from benchmarks.machine import Machine
from benchmarks.page import columns
from benchmarks.place import HERE, Broken, Place, this_msprun
from benchmarks.real import MORE, OPERATORS, Verdict, as_words, prepare, verdicts
from benchmarks.streams import STREAMS, Stream, best_power, favourable, measured, schedule

RUNS, RUNS_QUICK = 2000, 40
ROUNDS, ROUNDS_QUICK = 15, 1
TRUE = 1.05
READERS = ("msprun", "figures", "spread", "mean")


class Synthetic(Struct, frozen=True, kw_only=True):
    """Verdicts on one stream: counts for identical code and for a true 5 %, and what theory allows at best.

    `covered` counts intervals that hold the truth, of `runs` and `runs`; `best` is None where visits differ, since
    groups are then not independent.
    """

    stream: str
    runs: int
    identical: dict[str, int]
    faster: dict[str, int]
    covered: tuple[int, int]
    groups: float
    best: float | None


class Report(Struct, frozen=True, kw_only=True):
    """Everything, as it is written to JSON."""

    version: int = 1
    began: str
    took_s: float
    machine: Machine
    load_before: tuple[float, ...]
    load_after: tuple[float, ...]
    synthetic: tuple[Synthetic, ...]
    real: tuple[Verdict, ...]
    failures: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 1 when something did not run; the figures are figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs: does it work, and roughly how well")
    parser.add_argument("--part", choices=("both", "synthetic", "real"), default="both", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, help=f"runs of each operator and candidate (default: {ROUNDS})")
    asked = parser.parse_args(argv)
    found = Findings()
    try:
        if asked.part != "real":
            for stream in STREAMS:
                _say(stream.name)
                found.synthetic.append(on_stream(stream, RUNS_QUICK if asked.quick else RUNS))
                found.save()
        if asked.part != "synthetic":
            examples(asked.rounds or (ROUNDS_QUICK if asked.quick else ROUNDS), found)
    except KeyboardInterrupt:
        found.failures.append("interrupted")
    path = found.save()
    show(found.report())
    print(f"Results: {path}")
    return 1 if found.failures else 0


class Findings:
    """What is known so far; saved after every step, since all of it takes an hour."""

    def __init__(self) -> None:
        self.synthetic: list[Synthetic] = []
        self.real: list[Verdict] = []
        self.failures: list[str] = []
        self._began = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._start = time.monotonic()
        self._load = machine.load()
        self._path = HERE / "results" / time.strftime("coverage-%Y%m%d-%H%M%S.json")

    def report(self) -> Report:
        """Everything, with the machine as it is now."""
        return Report(
            began=self._began,
            took_s=time.monotonic() - self._start,
            machine=machine.describe(),
            load_before=self._load,
            load_after=machine.load(),
            synthetic=tuple(self.synthetic),
            real=tuple(self.real),
            failures=tuple(self.failures),
        )

    def save(self) -> Path:
        """Write `results/coverage-<time>.json`; its path."""
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_bytes(msgspec.json.format(msgspec.json.encode(self.report()), indent=1) + b"\n")
        return self._path


def on_stream(stream: Stream, runs: int) -> Synthetic:
    """Verdicts on identical code and on a true 5 %, each from runs of its own."""
    plan, rng = schedule(), random.Random(stream.name)
    counted: list[Counter[str]] = []
    covered, groups = [], []
    for truth in (1.0, TRUE):
        pairs = [measured(rng, stream, truth, plan)[0] for _ in range(runs)]
        counted.append(Counter(pair.verdict for pair in pairs))
        covered.append(
            sum(pair.low is not None and pair.high is not None and pair.low <= truth <= pair.high for pair in pairs)
        )
        groups = [pair.quads for pair in pairs]
    chance = favourable(stream, TRUE)
    best = {count: best_power(chance, count) for count in set(groups)}
    return Synthetic(
        stream=stream.name,
        runs=runs,
        identical=dict(counted[0]),
        faster=dict(counted[1]),
        covered=(covered[0], covered[1]),
        groups=sum(groups) / runs,
        best=None if stream.visit_sd else sum(best[count] for count in groups) / runs,
    )


def examples(rounds: int, found: Findings) -> None:
    """The operators against themselves and against 10 % more work, in turn."""
    with tempfile.TemporaryDirectory(prefix="msprun-coverage-") as folder:
        place = Place(Path(folder), (sys.executable,), this_msprun())
        prepare(place)
        for number in range(rounds):
            for operator in OPERATORS:
                for more in (0.0, MORE):
                    _say(f"round {number + 1} of {rounds}: {operator}{f' and {more:.0%} more' if more else ''}")
                    try:
                        found.real += verdicts(place, operator, more, number)
                    except Broken as error:
                        found.failures.append(f"{operator}: {error}")
                    found.save()


def show(report: Report) -> None:
    """Print the tables and the machine."""
    if report.synthetic:
        table("Synthetic streams", SYNTHETIC_HEAD, [synthetic_cells(line) for line in report.synthetic])
    if report.real:
        table("Real code on this machine", REAL_HEAD, list(real_cells(report.real)))
    loads = [" ".join(f"{value:.2f}" for value in of) for of in (report.load_before, report.load_after)]
    seen = report.machine
    print(f"\n{seen.cpu}, {seen.cores or 'unknown'} cores; Python {seen.python}, torch {seen.torch or 'absent'}")
    print(f"load average before {loads[0]}, after {loads[1]}; took {report.took_s:.0f} s")
    for failure in report.failures:
        print(f"FAILED: {failure}")


SYNTHETIC_HEAD = (
    "stream", "runs", "groups", "false", "same", "covered", "5 % found", "at best", "wrong way",
)  # fmt: skip


def synthetic_cells(line: Synthetic) -> tuple[str, ...]:
    """`false`: identical code called faster or slower; `at best`: what its groups allow by theory."""
    share = line.runs / 100
    return (
        line.stream,
        str(line.runs),
        f"{line.groups:.0f}",
        f"{(line.identical.get('faster', 0) + line.identical.get('slower', 0)) / share:.1f} %",
        f"{line.identical.get('same', 0) / share:.0f} %",
        f"{sum(line.covered) / share / 2:.1f} %",
        f"{line.faster.get('faster', 0) / share:.1f} %",
        "–" if line.best is None else f"{100 * line.best:.1f} %",
        f"{line.faster.get('slower', 0) / share:.1f} %",
    )


REAL_HEAD = ("operator", "candidate", "verdicts", "half width", *READERS)


def real_cells(found: Sequence[Verdict]) -> Iterable[tuple[str, ...]]:
    """Identical code: how often a reader sees a difference. More work: how often it is seen, cases from 20 us on."""
    for operator in (*OPERATORS, None):
        for more in (0.0, MORE):
            mine = [v for v in found if operator in (None, v.operator) and v.more == more and (not more or v.us >= 20)]
            if mine:
                yield _real_line(operator or "all", more, mine)


def _real_line(name: str, more: float, mine: Sequence[Verdict]) -> tuple[str, ...]:
    wanted = ("slower",) if more else ("faster", "slower")
    seen = {reader: sum(as_words(v)[reader] in wanted for v in mine) for reader in READERS}
    widths = sorted(v.width for v in mine if v.width is not None)
    same = sum(v.msprun == "same" for v in mine)
    said = f"{seen['msprun']}" if more else f"{seen['msprun']} ({same} same)"
    half = f"{100 * widths[len(widths) // 2]:.1f} %" if widths else "–"
    rest = [str(seen[reader]) for reader in READERS[1:]]
    return (name, f"{more:.0%} more" if more else "identical", str(len(mine)), half, said, *rest)


def table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Drawn by rich on a terminal, plain columns on a pipe."""
    if not sys.stdout.isatty():
        print("\n".join([title, *columns([head, *lines]), ""]))
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(*head, title=title)
    for line in lines:
        drawn.add_row(*line)
    Console().print(drawn)


def _say(text: str) -> None:
    end = "" if sys.stderr.isatty() else "\n"
    print(f"\r\x1b[K{text}" if not end else text, end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
