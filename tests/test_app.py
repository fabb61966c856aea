"""From words to a request: users' configs, their precedence, paths, sweeps, and what the mode is told."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from msprun import sweep
from msprun.errors import ConfigError
from msprun.resources import data_root
from tests.asked import Asked, stand_in, write


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


def refused(asked: Asked, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The line of a request that is refused."""
    assert asked(*words) == 2
    return capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize("name", ["my_op", "my op", "算子", "it's", "a,b", "x=y", "(copy)", "my.op", "add"])
def test_an_operator_is_a_folder_of_any_name(asked: Asked, own_world: Path, name: str) -> None:
    folder = own_world / name
    folder.mkdir()
    run = asked.run(f"op=./{name}")
    assert (run.op.dir, run.op.name) == (str(folder), name)


@pytest.mark.parametrize("words", [["op={}/"], ["-m", "op='{}'"]])
def test_a_folder_may_be_absolute_and_quoted(asked: Asked, own_world: Path, words: list[str]) -> None:
    folder = own_world / "算 子"
    folder.mkdir()
    assert asked.run(*(word.format(folder) for word in words)).op.dir == str(folder)


def test_a_quoted_folder_without_a_slash_is_a_folder(asked: Asked, own_world: Path) -> None:
    (own_world / "my op").mkdir()
    assert asked.run("op='my op'").op.dir == str(own_world / "my op")


def test_the_home_folder_may_hold_operators(asked: Asked) -> None:
    folder = Path.home() / "mine"
    folder.mkdir()
    assert asked.run("op=~/mine").op.dir == str(folder)


def test_a_folder_keeps_the_packaged_defaults_of_op(asked: Asked, own_world: Path) -> None:
    (own_world / "mine").mkdir()
    run = asked.run("op=./mine", "op.candidate.cls=Other", "op.name=given")
    assert (run.op.reference.file, run.op.candidate.cls, run.op.name) == ("model.py", "Other", "given")


@pytest.mark.parametrize(("path", "what"), [("./nope", "is not there"), ("./file", "is a file; give its folder")])
def test_what_is_no_folder_is_refused(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str], path: str, what: str
) -> None:
    write(own_world / "file", "")
    assert refused(asked, capsys, f"op={path}") == f"msprun: the operator folder {own_world / path[2:]} {what}"


def test_a_defaults_file_may_choose_a_folder(asked: Asked, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own_world / ".msprun/defaults.yaml", "op: ./mine\n")
    (own_world / "mine").mkdir()
    (own_world / "deep").mkdir()
    monkeypatch.chdir(own_world / "deep")
    assert asked.run().op.dir == str(own_world / "mine")


def test_paths_of_files_are_relative_to_what_holds_the_conf_folder(
    asked: Asked, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(own_world / ".msprun/op/mine.yaml", "dir: ops/mine\n")
    write(own_world / ".msprun/op/built.yaml", "defaults: [mine, _self_]\nname: built\n")
    write(own_world / ".msprun/op/variant.yaml", "defaults: [add, _self_]\nname: variant\n")
    write(own_world / ".msprun/experiment/there.yaml", "# @package _global_\nout: results\npython: env/bin/python\n")
    (own_world / "deep").mkdir()
    monkeypatch.chdir(own_world / "deep")
    assert asked.run("op=mine").op.dir == str(own_world / "ops/mine")
    assert asked.run("op=built").op.dir == str(own_world / "ops/mine")
    assert asked.run("op=variant").op.dir == str(data_root() / "examples/add")
    run = asked.run("experiment=there")
    assert (run.out, run.python) == (str(own_world / "results"), str(own_world / "env/bin/python"))
    assert asked.requests[0][1].folder.parent == own_world / "results"


def test_paths_of_the_command_line_are_relative_to_the_cwd(
    asked: Asked, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(own_world / ".msprun/defaults.yaml", "out: results\n")
    (own_world / "deep").mkdir()
    monkeypatch.chdir(own_world / "deep")
    assert asked.run().out == str(own_world / "results")
    run = asked.run("out=here", "op.dir=../op", "python=./py")
    here = own_world / "deep"
    assert (run.out, run.op.dir, run.python) == (str(here / "here"), str(own_world / "op"), str(here / "py"))
    assert asked.run("out=~/runs", "python=python3.12").out == str(Path.home() / "runs")
    assert asked.requests[0][0].python == "python3.12"


def test_the_folder_of_leases_is_relative_to_who_names_it(asked: Asked, own_world: Path) -> None:
    assert asked.run().lease.dir is None
    write(own_world / ".msprun/defaults.yaml", "lease: {dir: shared}\n")
    assert asked.run().lease.dir == str(own_world / "shared")
    assert asked.run("lease.dir=here").lease.dir == str(own_world / "here")


def test_a_device_is_named_by_number_and_shared_by_rule(asked: Asked) -> None:
    run = asked.run("device=npu", "device.id=3", "device.busy=refuse", "lease.wait_s=0")
    assert (run.device.kind, run.device.id, run.device.physical, run.device.busy) == ("npu", 3, None, "refuse")
    assert run.lease.wait_s == 0
    assert (asked.run("device=npu").device.id, asked.run("device=npu").device.busy) == (None, "wait")


def test_the_default_out_is_in_the_cwd(asked: Asked, own_world: Path) -> None:
    assert asked.run().out == str(own_world / "runs")


def test_the_run_folder_is_named_after_time_operator_and_tag(asked: Asked, own_world: Path) -> None:
    invocation = asked.invocation("op=softmax", "prof_tag=nightly")
    assert re.fullmatch(r"\d{8}-\d{6}-softmax-nightly-[a-z0-9]{6}", invocation.folder.name)
    assert invocation.folder.name.endswith(invocation.run_id)
    assert invocation.folder.parent == own_world / "runs"
    assert not (own_world / "runs").exists()


def test_an_odd_operator_name_makes_no_odd_folder(asked: Asked) -> None:
    name = asked.invocation("op.name='a/b c'").folder.name
    assert re.fullmatch(r"\d{8}-\d{6}-a_b_c-[a-z0-9]{6}", name)


def test_runs_of_the_same_second_have_their_own_folders(asked: Asked) -> None:
    assert len({asked.invocation().folder for _ in range(3)}) == 3


def test_a_file_in_the_place_of_out_is_seen_before_the_run(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(own_world / "file", "")
    assert refused(asked, capsys, "out=file/runs") == f"msprun: out={file}/runs: {file} is a file"


def test_out_without_the_right_to_write_is_seen_before_the_run(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != own_world)
    assert refused(asked, capsys) == f"msprun: out={own_world}/runs: no right to write in {own_world}"


def test_the_mode_is_told_what_was_given(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/experiment/mine.yaml",
          "# @package _global_\ndefaults:\n  - override /check: strict\nprofiler: {visits: 2}\n")  # fmt: skip
    invocation = asked.invocation("mode=quick", "experiment=mine", "op.check.rtol=1e-3", "report=[json]")
    assert invocation.given == {"mode", "check", "profiler.visits", "op.check.rtol", "report"}
    assert invocation.choices["experiment"] == "mine"
    assert invocation.overrides == ("mode=quick", "+experiment=mine", "op.check.rtol=1e-3", "report=[json]")
    assert invocation.cwd == own_world
    assert not invocation.is_sweep


def test_several_experiments_count_together(asked: Asked) -> None:
    run = asked.run("experiment=[smoke,thorough]")
    assert (run.warmup, run.check.level) == (2, "L2")
    assert {"warmup", "check", "budget_s"} <= asked.requests[0][1].given


def test_sources_name_the_command_line_files_and_auto(asked: Asked) -> None:
    sources = asked.invocation("warmup=5", "check=strict", "+op.reference.env={A: b}", "experiment=smoke").sources
    assert {key: sources[key] for key in ("warmup", "check.level", "op.reference.env.A")} == dict.fromkeys(
        ("warmup", "check.level", "op.reference.env.A"), "cli"
    )
    assert {sources[key] for key in ("repeats", "seed", "op.dir", "profiler.visits", "device.threads")} == {"config"}
    assert (sources["device.kind"], sources["profiler.kind"]) == ("auto", "auto")


def test_auto_is_resolved_with_its_reason_and_keeps_what_was_given(asked: Asked) -> None:
    invocation = asked.invocation("device.threads=3", "profiler.visits=5")
    run = asked.requests[0][0]
    assert (run.device.kind, run.device.threads) == ("cpu", 3)
    assert (run.profiler.kind, run.profiler.visits, run.profiler.quads_min) == ("clock", 5, 8)
    assert invocation.whys == {"device.kind": "nothing else is here", "profiler.kind": "fits cpu"}
    assert asked.invocation("device=cpu", "profiler=clock").whys == {}
    assert asked.requests[0][1].sources["device.kind"] == "cli"


def test_auto_may_choose_a_users_option(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/device/cpu.yaml", "kind: cpu\nthreads: 2\n")
    assert asked.run().device.threads == 2


def test_auto_without_an_option_for_it_is_refused(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("msprun.device.detect", lambda: ("xpu", "why not"))
    assert refused(asked, capsys) == "msprun: there is no device=xpu for device=auto"


def test_the_files_for_hydra_hold_the_composed_config(asked: Asked) -> None:
    invocation = asked.invocation("warmup=5")
    files = {name: yaml.safe_load(text) for name, text in invocation.hydra_files.items()}
    assert set(files) == {"config.yaml", "hydra.yaml", "overrides.yaml"}
    assert files["config.yaml"]["warmup"] == 5 and "hydra" not in files["config.yaml"]
    assert files["overrides.yaml"] == ["warmup=5"]
    assert files["hydra.yaml"]["hydra"]["runtime"]["output_dir"] == str(invocation.folder)


def test_no_pages_may_be_asked_for(asked: Asked) -> None:
    assert asked.run("report=[]").pages == {}


def test_a_sweep_runs_every_combination_in_folders_of_their_own(asked: Asked, own_world: Path) -> None:
    (own_world / "mine").mkdir()
    assert asked("op=add,./mine", "-m", "warmup=1,2") == 0
    seen = [(run.op.name, run.warmup) for run, _ in asked.requests]
    assert seen == [("add", 1), ("add", 2), ("mine", 1), ("mine", 2)]
    folders = [invocation.folder for _, invocation in asked.requests]
    assert [folder.name for folder in folders] == ["0", "1", "2", "3"]
    assert len({folder.parent for folder in folders}) == 1
    assert re.fullmatch(r"\d{8}-\d{6}-sweep-[a-z0-9]{6}", folders[0].parent.name)
    assert folders[0].parent.parent == own_world / "runs"
    uids = [invocation.run_id for _, invocation in asked.requests]
    assert uids == [f"{folders[0].parent.name[-6:]}-{n}" for n in range(4)]
    assert all(invocation.is_sweep and invocation.hydra_files == {} for _, invocation in asked.requests)


def test_a_sweep_over_seeds_as_a_range(asked: Asked) -> None:
    assert asked("-m", "seed=range(1,3)") == 0
    assert [run.seed for run, _ in asked.requests] == [1, 2]


def test_an_experiment_may_sweep_by_itself(asked: Asked, own_world: Path) -> None:
    write(
        own_world / ".msprun/experiment/many.yaml",
        "# @package _global_\nhydra: {mode: MULTIRUN, sweeper: {params: {repeats: '6'}}}\n",
    )
    assert asked("experiment=many", "seed=1,2") == 0
    assert [(run.repeats, run.seed) for run, _ in asked.requests] == [(6, 1), (6, 2)]


def test_a_job_that_is_refused_does_not_stop_the_others(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked.answers += [0, ConfigError("no such case", "name another"), 1]
    assert asked("-m", "warmup=1,2,3", "print=json") == 2
    out, err = capsys.readouterr()
    assert "msprun: job 1: no such case\n  name another\n" in err
    failure = json.loads(out)["first_failure"]
    assert (failure["job"], failure["status"]) == (1, "refused")
    assert (failure["reason"], failure["next"]) == ("no such case", "name another")
    assert [run.warmup for run, _ in asked.requests] == [1, 2, 3]


def test_a_bug_in_a_job_does_not_stop_the_others(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked.answers += [ZeroDivisionError("oops"), 0]
    assert asked("-m", "warmup=1,2") == 1
    assert len(asked.requests) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "msprun: job 0: this is a bug in msprun"


@pytest.mark.parametrize("answer", [130, KeyboardInterrupt()])
def test_an_interrupt_ends_the_sweep(asked: Asked, answer: object) -> None:
    asked.answers += [0, answer]
    assert asked("-m", "warmup=1,2,3") == 130
    assert len(asked.requests) == 2


def test_nothing_of_a_sweep_starts_when_one_job_cannot_be_composed(
    asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(asked, capsys, "-m", "seed=1,abc") == "msprun: job 1 (seed=abc): seed=abc is not a whole number"
    assert asked.requests == []


def test_the_environment_and_argv_are_as_before_afterwards(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pytest", "x"])
    assert asked("-m", "warmup=1,2") == 0
    import sys

    assert sys.argv == ["pytest", "x"]
    assert "HYDRA_FULL_ERROR" not in os.environ


def test_cfg_prints_the_config_and_runs_nothing(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("--cfg", "job", "warmup=5") == 0
    assert yaml.safe_load(capsys.readouterr().out)["warmup"] == 5
    assert asked.requests == [] and not Path("runs").exists()


def test_info_shows_where_configs_come_from(asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own_world / ".msprun").mkdir()
    assert asked("--info", "searchpath") == 0
    assert str(own_world / ".msprun") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("codes", "code"),
    [([0], 0), ([0, 1], 1), ([1, 4], 4), ([4, 3], 3), ([3, 130], 130), ([130, 2, 0], 2), ([1, 0, 1], 1)],
)
def test_the_worst_code_wins(codes: list[int], code: int) -> None:
    assert sweep.worst(codes) == code


@pytest.mark.parametrize("off", ["off", "false", "no", "Off", "FALSE"])
def test_check_can_be_switched_off(asked: Asked, off: str) -> None:
    assert asked.run(f"check={off}").check.rule == "none"
