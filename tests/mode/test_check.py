"""mode=check: what it plans and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from msprun import cli


def _plan(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert cli.main(["mode=check", "dry_run=true", "print=json", *words]) == 0
    plan: dict[str, object] = json.loads(capsys.readouterr().out)
    return plan


def test_one_session_serves_all_cases_and_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    plan = _plan(capsys, "op=softmax")
    assert plan["mode"] == "check"
    (session,) = plan["sessions"]  # type: ignore[misc]
    assert session["sides"] == ["reference", "candidate"]
    assert session["cases"] == plan["cases"] == list(range(len(plan["operator"]["cases"])))  # type: ignore[index]


def test_nothing_goes_into_the_operators_folder(capsys: pytest.CaptureFixture[str], own_world: Path) -> None:
    (own_world / "mine").mkdir()
    for name in ("model.py", "model_new_ascendc.py"):
        (own_world / "mine" / name).write_text("")
    (own_world / "mine" / "a.jsonl").write_text('{"inputs": [{"name": "x", "dtype": "float32", "shape": [2]}]}\n')
    assert _plan(capsys, "op=./mine")["save_to_op"] is False


@pytest.mark.parametrize("word", ["warmup=5", "repeats=3", "budget_s=1", "order=sequential", "impl=candidate"])
def test_keys_of_measuring_are_refused_with_the_mode_that_takes_them(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert cli.main(["mode=check", word]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"msprun: mode=check does not honour {word.partition('=')[0]}; use mode=quick")
    assert "Traceback" not in error


def test_checking_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mode=check", "check=none"]) == 2
    assert "mode=check with check=none would do nothing" in capsys.readouterr().err
