"""mode=quick: what it plans, and what is wrong before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msprun import cli


def _plan(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code = cli.main(["mode=quick", "dry_run=true", "print=json", *words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads(said.out)


def _write(folder: Path, cases: str = '{"inputs": [{"name": "x", "dtype": "float32", "shape": [2]}]}\n') -> Path:
    folder.mkdir()
    for name in ("model.py", "model_new_ascendc.py"):
        (folder / name).write_text("")
    (folder / "a_perf_cases.jsonl").write_text(cases)
    return folder


def test_automatic_counts_visit_each_case_three_times(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = _plan(capsys)["schedule"]
    assert (schedule["visits"], schedule["warmup"], schedule["repeats"]) == (6, None, None)


@pytest.mark.parametrize("word", ["warmup=5", "repeats=5"])
def test_an_explicit_count_means_one_visit(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert _plan(capsys, word)["schedule"]["visits"] == 1


def test_every_value_says_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    told = _plan(capsys, "warmup=5", "+experiment=smoke")["provenance"]
    assert told["warmup"] == {"value": "5", "source": "cli", "why": None}
    assert (told["repeats"]["value"], told["repeats"]["source"]) == ("6", "config")
    assert told["device.kind"]["source"] == "auto"
    assert told["device.kind"]["why"]


def test_the_users_environment_is_not_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cret")
    assert "s3cret" not in json.dumps(_plan(capsys))


def test_results_go_beside_the_operator_only_for_whole_runs_of_ones_own(
    capsys: pytest.CaptureFixture[str], own_world: Path
) -> None:
    _write(own_world / "mine")
    assert _plan(capsys, "op=./mine")["save_to_op"] is True
    for words in (["cases=0"], ["impl=reference"], ["max_cases=1"], ["save_to_op=false"]):
        assert _plan(capsys, "op=./mine", *words)["save_to_op"] is False
    assert _plan(capsys, "op=add")["save_to_op"] is False


def test_environments_of_the_sides_that_disagree_are_refused(
    capsys: pytest.CaptureFixture[str], own_world: Path
) -> None:
    _write(own_world / "mine")
    words = ["op=./mine", "+op.reference.env.MODE=a", "+op.candidate.env.MODE=b"]
    assert cli.main(["dry_run=true", *words]) == 2
    assert "op.reference.env and op.candidate.env want different values of MODE" in capsys.readouterr().err


def _message(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main([*words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) <= 2, said.err
    assert lines[0].startswith("msprun: ")
    return said.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["op=soft_max"], "did you mean softmax"),
        (["mode=quik"], "quick"),
        (["warmpu=3"], "did you mean warmup"),
        (["+warmpu=3"], "did you mean warmup"),
        (["cases=99"], "99"),
        (["cases=-1"], "-1"),
        (["cases=[]"], "selects nothing"),
        (["warmup=-1"], "warmup"),
        (["repeats=0"], "repeats"),
        (["warmup=abc"], "abc"),
        (["op=[add,softmax]"], "-m op=add,softmax"),
        (["op=add", "op.work.bytes=z.nbytes"], "op.work.bytes, column 1: there is no input 'z' (case fp16_small)"),
        (["op=./nowhere"], "is not there"),
        (["prof_tag=../x"], "prof_tag"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], own_world: Path, words: list[str], expected: str
) -> None:
    assert expected in _message(capsys, *words)
    assert list(own_world.iterdir()) == []


def test_a_folder_without_model_is_named(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    (own_world / "empty").mkdir()
    assert "model.py" in _message(capsys, "op=./empty")


def test_a_syntax_error_has_its_file_and_line(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    _write(own_world / "mine")
    (own_world / "mine" / "model.py").write_text("import torch\n\ndef forward(:\n")
    assert "model.py:3" in _message(capsys, "op=./mine")


def test_a_broken_line_of_cases_has_its_file_and_line(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    good = '{"inputs": [{"name": "x", "dtype": "float32", "shape": [2]}]}\n'
    _write(own_world / "mine", good + '{"inputs": [\n')
    message = _message(capsys, "op=./mine")
    assert "a_perf_cases.jsonl" in message
    assert "2" in message


def test_an_unknown_dtype_has_its_file_case_and_input(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    _write(own_world / "mine", '{"inputs": [{"name": "weight", "dtype": "float17", "shape": [2]}]}\n')
    message = _message(capsys, "op=./mine")
    assert all(word in message for word in ("a_perf_cases.jsonl", "float17", "weight", "case 0"))


def test_an_older_build_is_a_third_side_with_its_files(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    _write(own_world / "mine")
    _write(own_world / "old")
    plan = _plan(capsys, "op=./mine", "against=./old")
    assert plan["sides"] == plan["sessions"][0]["sides"] == ["reference", "candidate", "against"]
    assert plan["operator"]["against"]["folder"] == str(own_world / "old")
    assert "../old/model_new_ascendc.py" in plan["files"]
    assert plan["provenance"]["against"] == {"value": str(own_world / "old"), "source": "cli", "why": None}
    assert _plan(capsys, "op=./mine")["sides"] == ["reference", "candidate"]
    assert _plan(capsys, "op=./mine", "against=./old", "impl=candidate")["sides"] == ["candidate", "against"]


def test_the_older_build_that_a_config_names_lies_beside_its_folder(
    capsys: pytest.CaptureFixture[str], own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(own_world / "mine")
    _write(own_world / "old")
    (own_world / ".msprun" / "experiment").mkdir(parents=True)
    (own_world / ".msprun" / "experiment" / "gate.yaml").write_text("# @package _global_\nagainst: old\n")
    (own_world / "deep").mkdir()
    monkeypatch.chdir(own_world / "deep")
    plan = _plan(capsys, "op=../mine", "+experiment=gate")
    assert plan["operator"]["against"]["folder"] == str(own_world / "old")
    (own_world / ".msprun" / "defaults.yaml").write_text("against: ./old\n")
    assert _plan(capsys, "op=../mine")["operator"]["against"]["folder"] == str(own_world / "old")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["against=./nowhere"], "nowhere is not there"),
        (["against=."], "has no model_new_ascendc.py (candidate)"),
        (["against=./mine", "aa=true"], "against needs the candidate, which aa=true leaves out"),
        (["against=./mine", "impl=reference"], "against needs the candidate, which impl=reference leaves out"),
        (["against="], "against is empty"),
    ],
)
def test_an_older_build_that_makes_no_sense_is_one_line(
    capsys: pytest.CaptureFixture[str], own_world: Path, words: list[str], expected: str
) -> None:
    _write(own_world / "mine")
    assert expected in _message(capsys, "op=./mine", *words)
    assert not (own_world / "runs").exists()
