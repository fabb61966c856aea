"""The table on stdout: drawn by rich on a terminal, plain columns on a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.outcome import Outcome, Row

HEAD = ("row", "what", "time", "against", "median", "over the rounds", "fastest", "target", "verdict")


def show(outcome: Outcome) -> None:
    """Print the machine, the table, then notes and failures."""
    cells = [row_cells(row) for row in outcome.rows]
    if sys.stdout.isatty():
        _draw(cells)
    else:
        print("\n".join(columns([HEAD, *cells])))
    print("\n".join(["", *remarks(outcome)]))


def row_cells(row: Row) -> tuple[str, ...]:
    """One line of the table."""
    target = row.target
    against = "–" if target.theirs is None else f"{_seconds(row.theirs_s)} {target.theirs}"
    spread = "–" if row.low is None else f"{_figure(row.low, row)} - {_figure(row.high, row)}"
    sign = "≤" if target.bound == "at most" else "≥"
    return (
        str(target.row),
        target.what,
        _seconds(row.mine_s),
        against,
        _figure(row.value, row),
        spread,
        _figure(row.of_fastest, row),
        f"{sign} {_figure(target.limit, row)}",
        row.verdict,
    )


def columns(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells as lines of text, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def remarks(outcome: Outcome) -> list[str]:
    """The machine and how busy it was, notes, and what did not run."""
    m = outcome.machine
    loads = [" ".join(f"{value:.2f}" for value in of) for of in (outcome.load_before, outcome.load_after)]
    return [
        f"{m.cpu}, {m.cores or 'unknown'} cores, {m.memory_bytes / 2**30:.0f} GiB, {m.kernel}",
        f"Python {m.python}, torch {m.torch or 'absent'}, Hydra {m.hydra or 'absent'}",
        f"load average before {loads[0]}, after {loads[1]}; took {outcome.took_s:.0f} s",
        *_busy(outcome),
        *outcome.notes,
        *(f"FAILED: {failure}" for failure in outcome.failures),
    ]


def _busy(outcome: Outcome) -> list[str]:
    """Other programs that want the cores make everything slower, and a difference in seconds with it."""
    load = max(*outcome.load_before, *outcome.load_after)
    if load <= (outcome.machine.cores or 1) + 1:  # one of them is the benchmark itself
        return []
    return ["the machine was busy: every second is too long, differences too; of them the fastest round says most"]


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _figure(value: float | None, row: Row) -> str:
    if value is None:
        return "–"
    if row.target.measure == "count":
        return f"{value:.0f}"
    return f"{value:.2f}x" if row.target.measure == "ratio" else f"{value * 1000:.0f} ms"


def _draw(cells: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*HEAD)
    for line in cells:
        style = "green" if line[-1].startswith("holds") else "yellow"
        table.add_row(*line[:-1], f"[{style}]{line[-1]}[/]")
    Console().print(table)
