"""One small JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun.report.json import ascii_text
from msprun.report.summary import LIMIT_BYTES, summary

TEXTS = [text * 50_000 for text in ("x", "算", "\x00", '"\\', "😀", "\udcff", "\u202e", "")]


def test_mixed_result_in_one_object(made: ModuleType) -> None:
    found = summary(made.mixed(), Path("/runs/one"))
    assert (found["exit"], found["verdict"], found["state"], found["complete"]) == (1, "incorrect", "incorrect", True)
    assert found["counts"]["total"] == 6 and found["counts"]["faster"] == 1
    assert [case["case"] for case in found["worst"]] == [3, 4, 1]
    assert "speedup" not in found["worst"][0] and found["worst"][2]["speedup"] == 0.803
    assert found["first_failure"]["message"] == "RuntimeError: no kernel (model_new_ascendc.py:31)"
    assert found["first_failure"]["side"] == "candidate"
    assert "mode=check cases=3" in found["next"]
    assert found["path"] == "/runs/one"


def test_geomean_has_its_interval(made: ModuleType) -> None:
    found = summary(made.all_good(), None)["geomean"]
    assert found["speedup"] == pytest.approx((3.987 * 2.004) ** 0.5)
    assert found["low"] == pytest.approx((3.912 * 1.951) ** 0.5)
    assert found["high"] == pytest.approx((4.061 * 2.049) ** 0.5)


@pytest.mark.parametrize(
    ("name", "verdict", "state"),
    [
        ("all_good", "faster", "correct"),
        ("all_failed", "failed", None),
        ("check_mode", "incorrect", "incorrect"),
        ("one_sided", "one_sided", "not_checked"),
        ("partial", "interrupted", "correct"),
        ("hostile", "failed", "correct"),
    ],
)
def test_verdict_is_the_worst_that_is_true(made: ModuleType, name: str, verdict: str, state: str | None) -> None:
    found = summary(made.RESULTS[name](), None)
    assert (found["verdict"], found["state"]) == (verdict, state)


@pytest.mark.parametrize(
    ("speedup", "low", "high", "verdict", "word"),
    [
        (0.5, 0.45, 0.55, "slower", "slower"),
        (1.0, 0.99, 1.01, "same", "same"),
        (1.0, 0.8, 1.2, "unresolved", "unresolved"),
        (1.5, None, None, "unresolved", "unresolved"),
    ],
)
def test_speed_verdict_follows_the_interval(
    made: ModuleType, speedup: float, low: float | None, high: float | None, verdict: str, word: str
) -> None:
    result = made.result(made.measured(0, 10.0, 10.0 / speedup, made.pair(speedup, low, high, verdict)))
    assert summary(result, None)["verdict"] == word


def test_check_mode_has_no_geomean(made: ModuleType) -> None:
    result = msgspec.structs.replace(made.all_good(), profiling_mode="check")
    assert summary(result, None)["geomean"] is None and summary(result, None)["verdict"] == "correct"


def stuffed(made: ModuleType, text: str) -> object:
    failure = made.Failure(stage="check", kind=text, message=text, log=text, hint=text)
    rows = [made.row(n, "failed", shape=text, dtype=text, name=text, failure=failure) for n in range(5)]
    return made.result(*rows, task=text, profiling_mode=text)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("folder", [None, "/runs/one", "/r" * 1500, "/算" * 2000])
def test_limit_holds_for_hostile_lengths(made: ModuleType, text: str, folder: str | None) -> None:
    found = summary(stuffed(made, text), None if folder is None else Path(folder))
    line = (ascii_text(found) + "\n").encode("ascii")
    assert len(line) <= LIMIT_BYTES == 4096
    assert json.loads(line) == found
    assert found["path"] in (None, folder)
    assert line.count(b"\n") == 1


def test_path_is_whole_where_it_fits(made: ModuleType) -> None:
    folder = Path("/r" * 900)
    assert summary(stuffed(made, "x" * 9999), folder)["path"] == str(folder)


def test_cut_text_says_so(made: ModuleType) -> None:
    assert summary(stuffed(made, "x" * 9999), None)["first_failure"]["message"].endswith("...")


@given(text=st.text(max_size=3000))
def test_limit_holds_for_any_text(made: ModuleType, text: str) -> None:
    assert len(ascii_text(summary(stuffed(made, text), Path("/runs/one")))) < LIMIT_BYTES


def test_control_characters_do_not_reach_the_terminal(made: ModuleType) -> None:
    assert not {"\x1b", "\x9b", "\u202e"} & set("".join(texts(summary(made.hostile(), None))))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(item)


def test_the_older_build_has_its_figures_and_the_case_that_lost_most(made: ModuleType) -> None:
    found = summary(made.against(), None)
    told = found["against"]
    assert told["speedup"] == pytest.approx((1.496 * 1.002) ** 0.5)
    assert (told["low"], told["high"], told["cases"]) == (1.002, 1.496, 2)
    assert (told["faster"], told["same"], told["correct"], told["incorrect"], told["failed"]) == (1, 1, 3, 1, 1)
    assert told["worst"] == {"case": 1, "speedup": 1.002, "low": 0.991, "high": 1.012, "verdict": "same"}
    assert found["first_failure"]["side"] == "against" and found["verdict"] == "faster"
    assert summary(made.all_good(), None)["against"] is None


@pytest.mark.parametrize("text", TEXTS)
def test_limit_holds_with_an_older_build(made: ModuleType, text: str) -> None:
    rows = [
        msgspec.structs.replace(row, name=text, shape=text, dtype=text, speedup=1 / 3, paired=pair, paired_against=pair)
        for row in made.against().per_case
        for pair in [made.pair(1 / 3, 1 / 7, 22 / 7, "unresolved")]
    ]
    full = msgspec.structs.replace(made.against(), per_case=tuple(rows), task=text)
    found = summary(full, Path("/r" * 300))
    assert len(ascii_text(found)) < LIMIT_BYTES and found["against"]["cases"] == 2 and len(found["worst"]) == 3
