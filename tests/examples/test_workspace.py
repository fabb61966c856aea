"""The user's repository in miniature: its own defaults, operator and experiment, run for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from msprun import search
from msprun.resources import data_folder
from tests.asked import Asked, stand_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(data_folder("examples") / "workspace", tmp_path / "workspace", ignore=lambda *_: ("runs",))
    monkeypatch.chdir(tmp_path / "workspace")
    return tmp_path / "workspace"


@pytest.fixture
def asked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


def test_its_defaults_make_a_short_request(workspace: Path, asked: Asked) -> None:
    run = asked.run()
    assert (run.op.dir, run.device.kind, run.budget_s) == (str(workspace / "ops/scale"), "cpu", 1.0)
    assert list(run.pages) == ["json", "log", "markdown"]
    assert asked.run("op=softmax").budget_s == 1.0


def test_every_file_says_what_it_is(workspace: Path) -> None:
    said = {str(f.relative_to(workspace)): search.description(f) for f in (workspace / ".msprun").rglob("*.yaml")}
    assert len(said) == 3 and all(said.values())


def test_it_needs_no_conf_path(workspace: Path) -> None:
    assert search.user_folders(workspace / "ops", os.environ) == (workspace / ".msprun",)


@pytest.mark.torch
def test_its_experiment_sweeps_without_a_flag_and_measures(workspace: Path) -> None:
    words = [sys.executable, "-m", "msprun", "+experiment=release", "case_timeout_s=100"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=110, cwd=workspace, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    stored = [json.loads(file.read_text()) for file in sorted(workspace.glob("runs/*-sweep-*/*/result.json"))]
    assert [(one["request"]["choices"]["op"], one["seed"]) for one in stored] == [
        ("scale", 0), ("scale", 1), ("add", 0), ("add", 1),
    ]  # fmt: skip
    for one in stored:
        assert [case["correctness"]["state"] for case in one["per_case"]] == ["correct", "correct"]
        assert all(case["speedup"] == case["ref_us"] / case["asc_us"] for case in one["per_case"])
    assert not list(workspace.glob("ops/scale/performance.*"))
