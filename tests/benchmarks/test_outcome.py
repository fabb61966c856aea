"""Rows, the table that shows them, and the file that keeps them."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from benchmarks.__main__ import save
from benchmarks.machine import Machine, describe, load
from benchmarks.outcome import Outcome, row
from benchmarks.page import columns, remarks, row_cells
from benchmarks.targets import Target

RATIO = Target(row=1, what="twenty", mine="msprun", theirs="bare", limit=1.5)
DIFFERENCE = Target(row=5, what="--help", mine="help", theirs="python", measure="difference", limit=0.06)
SECONDS = {"msprun": (3.0, 3.41, 3.2), "bare": (2.0, 2.2, 2.0), "help": (0.050,), "python": (0.020,)}


def outcome() -> Outcome:
    return Outcome(
        began="2026-01-02T03:04:05+0000",
        took_s=12.0,
        is_quick=True,
        machine=Machine(
            cpu="Chip", cores=2, memory_bytes=24 << 30, kernel="Linux 6", python="3.11.7", torch=None, hydra="1.3.8"
        ),
        load_before=(0.5, 1.0, 1.5),
        load_after=(2.0, 1.0, 1.5),
        rows=(row(RATIO, SECONDS, {}),),
        notes=("a note",),
        failures=("row 5: broken",),
        seconds=SECONDS,
    )


def test_a_ratio_as_a_line_of_the_table() -> None:
    cells = row_cells(row(RATIO, SECONDS, {}))
    assert cells == (
        "1",
        "twenty",
        "3.20 s",
        "2.00 s bare",
        "1.55x",
        "1.50x - 1.60x",
        "1.50x",
        "≤ 1.50x",
        "misses by 3 % (1 of 3 rounds)",
    )


def test_a_difference_as_a_line_of_the_table() -> None:
    cells = row_cells(row(DIFFERENCE, SECONDS, {}))
    assert cells == ("5", "--help", "50 ms", "20 ms python", "30 ms", "30 ms - 30 ms", "30 ms", "≤ 60 ms", "holds")


def test_a_count_as_a_line_of_the_table() -> None:
    target = Target(row=2, what="sessions", mine="sessions", measure="count", limit=2)
    cells = row_cells(row(target, {"sessions": (2, 3, 2)}, {}))
    assert cells == ("2", "sessions", "–", "–", "3", "2 - 3", "2", "≤ 2", "misses by 50 % (2 of 3 rounds)")


def test_what_did_not_run_says_so_and_has_no_figure() -> None:
    found = row(RATIO, {"bare": (1.0,)}, {"msprun": "not built"})
    assert (found.value, found.mine_s, found.verdict) == (None, None, "not built")
    assert row_cells(found)[2:] == ("–", "– bare", "–", "–", "–", "≤ 1.50x", "not built")


def test_columns_are_aligned() -> None:
    assert columns([("a", "bbb"), ("cccc", "d")]) == ["a     bbb", "cccc  d"]


def test_remarks_describe_the_machine_and_what_failed() -> None:
    assert remarks(outcome()) == [
        "Chip, 2 cores, 24 GiB, Linux 6",
        "Python 3.11.7, torch absent, Hydra 1.3.8",
        "load average before 0.50 1.00 1.50, after 2.00 1.00 1.50; took 12 s",
        "a note",
        "FAILED: row 5: broken",
    ]


def test_a_busy_machine_is_a_remark() -> None:
    busy = replace(outcome(), load_after=(7.5, 5.0, 3.0))
    assert sum("was busy" in line for line in remarks(busy)) == 1


def test_the_file_keeps_every_round(tmp_path: Path) -> None:
    path = save(outcome(), tmp_path / "results")
    told = json.loads(path.read_text())
    assert told["seconds"]["msprun"] == [3.0, 3.41, 3.2]
    assert told["rows"][0]["target"]["limit"] == 1.5
    assert told["machine"]["torch"] is None


def test_two_files_of_one_second_are_both_kept(tmp_path: Path) -> None:
    assert len({save(outcome(), tmp_path) for _ in range(3)}) == 3


def test_this_machine_can_be_described() -> None:
    found = describe()
    assert found.cores is not None and found.cores >= 1 and found.memory_bytes > 1 << 20
    assert len(load()) == 3
