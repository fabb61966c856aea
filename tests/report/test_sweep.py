"""The pages of a sweep: a table that fits, a CSV that is data, one JSON object of at most 4 KiB."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.model.result import Counts
from msprun.model.sweep import Geomean, Job, JobStatus, Sweep, SweepRequest
from msprun.render import width
from msprun.report import sweep as page
from msprun.report.json import ascii_text

ALL = Counts(
    total=8, run=8, measured=8, correct=8, incorrect=0, failed=0, skipped=0, faster=8, slower=0, same=0, unresolved=0
)


def job(number: int, swept: dict[str, str], status: JobStatus = "done", **more: Any) -> Job:
    codes: dict[JobStatus, int] = {"done": 0, "failed": 1, "refused": 2, "interrupted": 130}
    return Job(number=number, overrides=(), swept=swept, status=status, exit_code=codes.get(status),
               folder=str(number), **more)  # fmt: skip


def fast(number: int, swept: dict[str, str], speedup: float = 1.5) -> Job:
    geomean = Geomean(speedup=speedup, low=speedup - 0.25, high=speedup + 0.25)
    return job(number, swept, geomean=geomean, verdict="faster", state="correct", counts=ALL)


def sweep(*jobs: Job) -> Sweep:
    request = SweepRequest(overrides=(), hydra=(), keys=tuple(jobs[0].swept), cwd="/here", fail_fast=False, files={})
    return Sweep(schema_version=1, msprun_version="0", sweep_id="abc", started_at="now", request=request, jobs=jobs,
                 exit_code=max((j.exit_code or 0 for j in jobs), default=0),
                 complete=all(j.exit_code is not None for j in jobs))  # fmt: skip


MIXED = sweep(
    fast(0, {"op": "add", "seed": "0"}),
    job(1, {"op": "/home/somebody/operators/a_long_name_of_an_operator", "seed": "0"}, "failed",
        reason="case 3: RuntimeError: the kernel wrote beyond the end of its output, which has 4096 elements",
        counts=Counts(total=8, run=8, measured=7, correct=7, incorrect=0, failed=1, skipped=0, faster=7, slower=0,
                      same=0, unresolved=0)),
    job(2, {"op": "softmax", "seed": "0"}, "refused", reason="no such case", next="name another"),
    job(3, {"op": "grouped", "seed": "0"}, "interrupted"),
    job(4, {"op": "gelu", "seed": "0"}, "not_started"),
    job(5, {"op": "norm", "seed": "0"}, "skipped_fail_fast"),
)  # fmt: skip


def test_the_table_has_the_swept_keys_as_columns() -> None:
    lines = page.table(sweep(fast(0, {"seed": "0"}), fast(1, {"seed": "10"}, 12.0)), "en", 80)
    assert lines == [
        "job  seed  speedup  95 %           verdict  state",
        "  0  0       1.50x  1.25 - 1.75    faster   8 correct",
        "  1  10     12.00x  11.75 - 12.25  faster   8 correct",
    ]


def test_what_went_wrong_is_in_the_table_and_fits_80_columns() -> None:
    lines = page.table(MIXED, "en", 80)
    assert max(map(width, lines)) <= 80
    states = ("8 correct", "1 failed", "refused", "interrupted", "not started", "skipped")
    assert all(state in line for state, line in zip(states, lines[1:], strict=True))
    assert "/home/somebody/operators/a_long_name_of_an_operator"[:12] in lines[2] and "..." in lines[2]
    assert "reason" not in lines[0]


def test_a_path_below_the_current_directory_is_short() -> None:
    lines = page.table(sweep(fast(0, {"op": "/here/ops/mine"}), fast(1, {"op": "/hereafter"})), "en", 80)
    assert [line.split()[1] for line in lines] == ["op", "./ops/mine", "/hereafter"]


def test_a_wide_pipe_shows_more_of_long_values() -> None:
    line = page.table(MIXED, "en", 160)[2]
    assert "case 3: RuntimeError: the kernel wrote" in line and line.endswith("4096 elements")


def test_the_words_are_chinese_where_asked() -> None:
    lines = page.table(MIXED, "zh", 80)
    assert lines[0].split()[:2] == ["作业", "op"] and max(map(width, lines)) <= 80


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=6),
    st.text(st.characters(codec="utf-8"), max_size=300),
    st.integers(80, 200),
)
def test_no_value_breaks_the_table(values: list[str], reason: str, columns: int) -> None:
    swept = {f"key.number_{index}": value for index, value in enumerate(values[:4])}
    lines = page.table(sweep(job(0, swept, "failed", reason=reason), fast(1, swept)), "en", columns)
    assert len(lines) == 3 and max(map(width, lines)) <= columns
    assert not any(ord(letter) < 32 for line in lines for letter in line)


def test_the_csv_is_data_and_has_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(page.csv(sweep(
        fast(0, {"op": "=cmd()", "cases": "[0,1]"}), job(1, {"op": "a,b", "cases": "x\ny"}, "not_started"),
    )).decode())))  # fmt: skip
    assert rows[0][:7] == ["job", "op", "cases", "status", "exit_code", "speedup", "low"]
    assert rows[1][:7] == ["0", "'=cmd()", "[0,1]", "done", "0", "1.5", "1.25"]
    assert rows[2][:7] == ["1", "a,b", "x\\ny", "not_started", "", "", ""]


def test_the_json_object_names_the_failures_first() -> None:
    said = page.summary(MIXED, Path("/runs/s"), "en")
    assert said["jobs"] == {
        "total": 6, "done": 1, "failed": 1, "refused": 1, "interrupted": 1, "not_started": 1, "skipped_fail_fast": 1,
    }  # fmt: skip
    assert [row["job"] for row in said["rows"]] == [1, 2, 3, 4, 5, 0] and said["left_out"] == 0
    assert said["first_failure"]["job"] == 1
    assert (said["next"], said["path"]) == ("msprun resume=/runs/s", "/runs/s")


@pytest.mark.parametrize("count", [1, 9, 500])
@pytest.mark.parametrize("letter", ["x", "算", "\x00"])
def test_the_json_object_has_at_most_4_kib(count: int, letter: str) -> None:
    swept = {letter * 200: letter * 500, "b": "2"}
    jobs = [job(number, swept, "failed", reason=letter * 2000, next=letter * 900) for number in range(count)]
    said = page.summary(sweep(*jobs), Path("/" + letter * 200), "en")
    assert len(ascii_text(said)) < 4096
    assert json.loads(ascii_text(said))["jobs"]["total"] == count
    assert len(said["rows"]) + said["left_out"] == count
