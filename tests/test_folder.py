"""Run folders: what is written, what is copied to the operator, what is removed and what is never touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from msprun import folder
from msprun.errors import ConfigError
from msprun.model.invocation import Invocation
from msprun.model.operator import SIDES, Implementation, Operator
from msprun.model.plan import Access, CheckRule, Command, DeviceFacts, Limits, Plan, Profiling, Schedule, Session


def _operator(at: Path) -> Operator:
    return Operator(
        name="toy", folder=at, reference=Implementation(file=at / "model.py", cls="Model"),
        candidate=Implementation(file=at / "new.py", cls="ModelNew"), cases=(), cases_file=None, origin="provider",
    )  # fmt: skip


def _plan(at: Path, operator: Path) -> Plan:
    command = Command(argv=("python",), cwd=at, env=(("API_KEY", "s3cret"),), stdout=at / "o", stderr=at / "e")
    session = Session(number=0, round="timing", profiler="clock", cases=(), sides=SIDES, folder=at, command=command)
    return Plan(
        mode="quick", operator=_operator(operator), cases=(), sides=SIDES,
        schedule=Schedule(
            warmup=1, repeats=1, budget_s=1, order="interleaved", cache="warm", seed=0, visits=1,
            quads_min=8, quads_max=9,
            precision=0.02, block_us=50, block_calls_max=10, warmup_min=1, warmup_max=2, warmup_s=1,
        ),
        check=CheckRule(
            name="none", rule="none", level="L0", budget_s=1, rtol=None, atol=None, threshold=None, compare=None
        ),
        limits=Limits(op_timeout_s=1, compile_timeout_s=1, case_timeout_s=1, timeout_s=1, time_limit_s=None),
        device=DeviceFacts(kind="cpu", id=0, id_source="auto", name="x", cores=1, threads=1), profiler="clock",
        profiling=Profiling(isolation="shared", metric="device", boost=False, keep_prof=False),
        access=Access(busy="wait", wait_s=1), python=Path("/usr/bin/python3"),
        sessions=(session,), retry=0, keep_going=False, fail_on="any", save_to_op=True,
        folder=at, pages=(("json", None, "result.json"), ("log", "x", "performance.log"), ("csv", None, "samples.csv")),
        lang="en", log_limit_mb=1, provenance={}, files={}, overrides=(), choices={}, expected_s=1,
    )  # fmt: skip


def _invocation(at: Path, **more: bool) -> Invocation:
    return Invocation(
        overrides=("op=toy",), choices={}, given=frozenset(), sources={}, cwd=at.parent, folder=at, run_id="abc123",
        hydra_files={"config.yaml": "a: 1\n", "overrides.yaml": "- op=toy\n"}, **more,
    )  # fmt: skip


def test_a_run_folder_holds_the_request_and_the_plan(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    folder.create(_plan(at, tmp_path), _invocation(at))
    assert (at / ".hydra" / "overrides.yaml").read_text() == "- op=toy\n"
    assert json.loads((at / "plan.json").read_text())["mode"] == "quick"
    assert (tmp_path / "runs" / ".gitignore").read_text() == "*\n"


def test_the_callers_environment_is_not_written_down(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    folder.create(_plan(at, tmp_path), _invocation(at))
    assert "s3cret" not in (at / "plan.json").read_text()


def test_a_folder_that_was_there_before_is_not_made_invisible_to_git(tmp_path: Path) -> None:
    folder.create(_plan(tmp_path / "one", tmp_path), _invocation(tmp_path / "one"))
    assert not (tmp_path / ".gitignore").exists()


def test_two_runs_never_share_a_folder_but_a_job_uses_its_sweeps(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    at.mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot be written"):
        folder.create(_plan(at, tmp_path), _invocation(at))
    folder.create(_plan(at, tmp_path), _invocation(at, is_sweep=True))


def test_an_out_that_is_a_file_is_one_line_with_the_key(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")
    at = tmp_path / "runs" / "one"
    with pytest.raises(ConfigError, match=r"out=.*runs cannot be written") as caught:
        folder.create(_plan(at, tmp_path), _invocation(at))
    assert "out=" in str(caught.value.hint)


@pytest.mark.process
def test_an_out_without_rights_is_one_line_with_the_key(unprivileged) -> None:  # type: ignore[no-untyped-def]
    """FAQ of msprof: missing rights leave an empty folder, and only the device's log says so."""
    at = Path("/proc/runs") / "one"
    with pytest.raises(ConfigError, match="out=/proc/runs cannot be written"):
        unprivileged.call(folder.create, _plan(at, unprivileged.folder), _invocation(at))


def test_the_operator_gets_the_pages_that_old_callers_look_for(tmp_path: Path) -> None:
    at, operator = tmp_path / "run", tmp_path / "op"
    at.mkdir()
    operator.mkdir()
    for name in ("result.json", "performance.log", "samples.csv"):
        (at / name).write_text(f"of {name}")
    folder.copy_to_operator(_plan(at, operator))
    assert {p.name: p.read_text() for p in operator.iterdir()} == {
        "performance.json": "of result.json",
        "performance.log": "of performance.log",
    }


def _finished(at: Path) -> None:
    at.mkdir()
    (at / folder.MARKER).write_text("999999999\n")


def test_old_runs_go_but_nothing_else_does(tmp_path: Path) -> None:
    for name in ("20260101-000000-a", "20260102-000000-a", "20260103-000000-a"):
        _finished(tmp_path / name)
    (tmp_path / "20250101-notes").mkdir()
    (tmp_path / "elsewhere").mkdir()
    _finished(tmp_path / "elsewhere" / "linked")
    (tmp_path / "20240101-link").symlink_to(tmp_path / "elsewhere" / "linked")
    running = tmp_path / "20230101-000000-a"
    running.mkdir()
    (running / folder.MARKER).write_text(f"{os.getppid()}\n")
    folder.keep_newest(tmp_path / "20260103-000000-a", 2)
    assert {p.name for p in tmp_path.iterdir()} == {
        "20260102-000000-a", "20260103-000000-a", "20250101-notes", "elsewhere", "20240101-link", "20230101-000000-a",
    }  # fmt: skip
    assert (tmp_path / "elsewhere" / "linked" / folder.MARKER).exists()


def test_keep_runs_null_removes_nothing(tmp_path: Path) -> None:
    _finished(tmp_path / "a")
    _finished(tmp_path / "b")
    folder.keep_newest(tmp_path / "b", None)
    assert (tmp_path / "a").exists()


def test_a_plan_is_frozen(tmp_path: Path) -> None:
    plan = _plan(tmp_path, tmp_path)
    with pytest.raises(AttributeError):
        plan.mode = "check"  # type: ignore[misc]
    assert replace(plan, mode="check").mode == "check"


def _interrupted(tmp_path: Path) -> Path:
    at = tmp_path / "runs" / "one"
    folder.create(_plan(at, tmp_path), _invocation(at))
    (at / folder.MARKER).write_text("999999999\n")
    return at


def test_an_interrupted_run_is_taken_up_again(tmp_path: Path) -> None:
    at = _interrupted(tmp_path)
    assert folder.reopen(_plan(at, tmp_path)) is None
    assert (at / folder.MARKER).read_text() == f"{os.getpid()}\n"


def test_a_changed_request_is_refused_with_the_difference(tmp_path: Path) -> None:
    at = _interrupted(tmp_path)
    plan = _plan(at, tmp_path)
    changed = replace(plan, schedule=replace(plan.schedule, warmup=7), files={"model.py": "ab"})
    with pytest.raises(ConfigError) as caught:
        folder.reopen(changed)
    assert 'files.model.py: null -> "ab"' in caught.value.message
    assert "schedule.warmup: 1 -> 7" in caught.value.message
    assert "rerun" in str(caught.value.hint)


def test_how_a_device_was_chosen_and_how_it_feels_may_change(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    plan = _plan(at, tmp_path)
    npu = replace(plan.device, kind="npu", id=3, id_source="auto", id_why="AI core 0 %", health="OK")
    folder.create(replace(plan, device=npu), _invocation(at))
    (at / folder.MARKER).write_text("999999999\n")
    now = replace(npu, id_source="cli", id_why=None, health="Warning")
    assert folder.reopen(replace(plan, device=now)) is None
    (at / folder.MARKER).write_text("999999999\n")
    with pytest.raises(ConfigError, match="device.id: 3 -> 4"):
        folder.reopen(replace(plan, device=replace(npu, id=4)))


def test_the_device_of_an_earlier_run_is_known(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    plan = _plan(at, tmp_path)
    folder.create(replace(plan, device=replace(plan.device, kind="npu", id=3)), _invocation(at))
    assert folder.earlier_device(at) == 3
    assert folder.earlier_device(_interrupted(tmp_path / "cpu")) is None
    assert folder.earlier_device(tmp_path) is None


def test_a_run_that_still_goes_on_is_left_alone(tmp_path: Path) -> None:
    at = _interrupted(tmp_path)
    (at / folder.MARKER).write_text(f"{os.getppid()}\n")
    with pytest.raises(ConfigError, match=f"still being written by process {os.getppid()}"):
        folder.reopen(_plan(at, tmp_path))


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no run folder"):
        folder.reopen(_plan(tmp_path, tmp_path))


def test_a_torn_plan_is_refused(tmp_path: Path) -> None:
    at = _interrupted(tmp_path)
    (at / "plan.json").write_text('{"mode": ')
    with pytest.raises(ConfigError, match="cannot be taken up again"):
        folder.reopen(_plan(at, tmp_path))


def test_the_folder_of_all_runs_is_made_once(tmp_path: Path) -> None:
    folder.make_out(tmp_path / "a" / "runs")
    ignored = tmp_path / "a" / "runs" / ".gitignore"
    ignored.write_text("mine\n")
    folder.make_out(tmp_path / "a" / "runs")
    assert ignored.read_text() == "mine\n"


def test_a_run_that_left_no_result_starts_in_its_old_folder(tmp_path: Path) -> None:
    at = tmp_path / "runs" / "one"
    folder.create(_plan(at, tmp_path), _invocation(at))
    folder.create(_plan(at, tmp_path), replace(_invocation(at), resume=True))
