"""Sweeps: what is checked beforehand, what each job leaves, the table, and the exit code."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hydra.core.plugins import Plugins

from msprun import cli, process
from msprun.errors import MachineError
from msprun.model.invocation import Invocation
from tests import sweeping
from tests.asked import write
from tests.sweeping import Quick, books, only_sweep, table


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    return sweeping.stand_in(monkeypatch)


def ends(patch: pytest.MonkeyPatch, quick: Quick, *answers: object) -> None:
    """Let the mode end its requests with these codes and exceptions instead."""
    left = list(answers)

    def run(request: object, invocation: Invocation) -> int:
        quick.seen.append(invocation)
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, int)
        return answer

    patch.setattr(quick, "run", run)


def test_the_signature_sweep_is_nine_jobs_one_table_and_one_code(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["-m", "mode=quick", "op=add", "repeats=1,5,10", "seed=range(0,3)"]) == 0
    place = only_sweep(own_world / "runs")
    assert [job["swept"] for job in books(place)["jobs"]] == [
        {"repeats": r, "seed": s} for r in ("1", "5", "10") for s in ("0", "1", "2")
    ]
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"msprun sweep: 9 jobs over repeats, seed: {place}"
    assert out[1:10] == [
        f"job {n} ({n + 1}/9)  repeats={r} seed={s}"
        for n, (r, s) in enumerate((r, s) for r in (1, 5, 10) for s in range(3))
    ]
    assert out[11].split() == ["job", "repeats", "seed", "speedup", "95", "%", "verdict", "state"]
    assert out[17].split() == ["5", "5", "2", "4.00x", "3.50", "-", "4.50", "faster", "3", "correct"]
    assert out[-2:] == ["9 jobs: 9 done; exit code 0", f"Results: {place}"]


def test_a_sweep_leaves_a_folder_and_a_status_for_every_job(quick: Quick, own_world: Path) -> None:
    assert cli.main(["-m", "seed=0,13,14,3"]) == 1
    place = only_sweep(own_world / "runs")
    assert (own_world / "runs" / ".gitignore").read_text() == "*\n"
    assert [job["status"] for job in books(place)["jobs"]] == ["done", "failed", "failed", "done"]
    assert [job["exit_code"] for job in books(place)["jobs"]] == [0, 1, 1, 0]
    assert [job["reason"] for job in books(place)["jobs"]] == [
        None, "case 2: incorrect", "a bug in msprun: ZeroDivisionError: oops", None,
    ]  # fmt: skip
    statuses = [json.loads((place / str(n) / "status.json").read_text()) for n in range(4)]
    assert [status["status"] for status in statuses] == ["done", "failed", "failed", "done"]
    assert all((place / str(n) / ".hydra" / "overrides.yaml").is_file() for n in range(4))
    assert (place / "multirun.yaml").is_file()


def test_the_csv_has_the_swept_keys_as_columns(quick: Quick, own_world: Path) -> None:
    cli.main(["-m", "seed=0,13", "order=interleaved"])
    place = only_sweep(own_world / "runs")
    with (place / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["job"], row["seed"], row["status"], row["verdict"]) for row in rows] == [
        ("0", "0", "done", "faster"), ("1", "13", "failed", "incorrect"),
    ]  # fmt: skip
    assert float(rows[0]["speedup"]) == pytest.approx(2.0)
    assert (rows[1]["total"], rows[1]["correct"], rows[1]["incorrect"]) == ("3", "2", "1")


def test_print_json_is_one_object_for_the_whole_sweep(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["-m", "seed=0,13", "print=json"]) == 1
    out, err = capsys.readouterr()
    assert out.count("\n") == 1 and len(out) <= 4096
    said = json.loads(out)
    assert (said["exit"], said["complete"], said["jobs"]) == (1, True, {"total": 2, "done": 1, "failed": 1})
    assert said["first_failure"]["job"] == 1 and said["first_failure"]["reason"] == "case 2: incorrect"
    assert "job 1 (2/2)  seed=13" in err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["warmup=5,-1"], "job 1 (warmup=-1): warmup=-1 is out of range"),
        (["op=add,nowhere"], "job 1 (op=nowhere): there is no op=nowhere"),
        (["order=sequential,random"], "job 1 (order=random): there is no order=random"),
        (["repeats=1,two", "seed=0,1"], "job 2 (repeats=two seed=0): repeats=two is not auto or a whole number"),
        (["seed=1,abc"], "job 1 (seed=abc): seed=abc is not a whole number"),
        (["cases=[0],[-1]"], "job 1 (cases=[-1]): cases=-1 is out of range"),
        (["op=add,./nope"], "the operator folder {here}/nope is not there"),
        (["print=json,text"], "print cannot be swept: it holds for the whole sweep"),
        (["out=a,b"], "out cannot be swept: it holds for the whole sweep"),
        (["fail_fast=true,false"], "fail_fast cannot be swept: it holds for the whole sweep"),
    ],
)
def test_all_jobs_are_checked_before_the_first_starts(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert cli.main(["-m", *words]) == 2
    assert capsys.readouterr().err.splitlines()[0] == "msprun: " + line.format(here=own_world)
    assert quick.seen == [] and list(own_world.iterdir()) == []


def test_a_case_that_is_not_there_is_found_beforehand(
    own_world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("msprun.bench.choose", lambda *_: (Path("/usr/bin/python3"), "a stand-in"))
    assert cli.main(["-m", "cases=0,99"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == "msprun: job 1 (cases=99): cases: there is no case 99"
    assert list(own_world.iterdir()) == []


def test_what_is_wrong_with_the_machine_is_no_jobs_fault(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def examine(*_: object) -> dict[str, str]:
        raise MachineError("torch is not installed", "install it")

    monkeypatch.setattr(quick, "examine", examine)
    assert cli.main(["-m", "seed=0,1"]) == 2
    assert capsys.readouterr().err == "msprun: torch is not installed\n  install it\n"


def test_a_failing_job_stops_the_others_only_with_fail_fast(quick: Quick, own_world: Path) -> None:
    assert cli.main(["-m", "seed=0,13,1", "fail_fast=true"]) == 1
    place = only_sweep(own_world / "runs")
    assert [job["status"] for job in books(place)["jobs"]] == ["done", "failed", "skipped_fail_fast"]
    assert json.loads((place / "2" / "status.json").read_text())["status"] == "skipped_fail_fast"
    assert not books(place)["complete"]


def test_fail_fast_is_for_sweeps(quick: Quick, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fail_fast=true"]) == 2
    assert capsys.readouterr().err.startswith("msprun: fail_fast is for sweeps, and this is a single run\n")


@pytest.mark.parametrize(
    ("codes", "code"), [((0, 1, 0), 1), ((1, 4, 0), 4), ((4, 3, 1), 3), ((3, 2, 4), 2), ((0, 0, 0), 0)]
)
def test_the_worst_code_of_the_jobs_wins(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, ...], code: int
) -> None:
    ends(monkeypatch, quick, *codes)
    assert cli.main(["-m", "seed=0,1,2"]) == code


@pytest.mark.parametrize("answer", [130, KeyboardInterrupt()])
def test_an_interrupt_ends_the_sweep_and_leaves_its_table(
    quick: Quick, own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: object
) -> None:
    ends(monkeypatch, quick, 0, answer)
    assert cli.main(["-m", "seed=0,1,2"]) == 130
    place = only_sweep(own_world / "runs")
    assert [job["status"] for job in books(place)["jobs"]] == ["done", "interrupted", "not_started"]
    assert [(place / str(n) / "status.json").is_file() for n in range(3)] == [True] * 3
    assert books(place)["exit_code"] == 130
    said = capsys.readouterr().out
    assert "3 jobs: 1 done, 1 interrupted, 1 not started; exit code 130" in said
    assert f"Next: msprun resume={place}" in said


@pytest.mark.process
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_a_sweep_with_130(own_world: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    sweeping.stand_in(monkeypatch, pause_s=20)
    pid = sweeping.started("-m", "seed=0,1", "out=runs")
    job = wait_for(lambda: list((own_world / "runs").glob("*-sweep-*/0/plan.json")))
    process.os.kill(pid, getattr(process.signal, name))
    assert sweeping.ended(pid) == 130
    assert [j["status"] for j in books(job.parents[1])["jobs"]] == ["interrupted", "not_started"]


def wait_for(found: Callable[[], Sequence[Path]], seconds: float = 30.0) -> Path:
    """The first path that appears."""
    deadline = sweeping.time.monotonic() + seconds
    while sweeping.time.monotonic() < deadline:
        if paths := found():
            return paths[0]
        sweeping.time.sleep(0.02)
    raise AssertionError("nothing appeared")


class Dying:
    """A launcher that runs the first job, says that it runs the second, and stops."""

    def __init__(self, context: Any, task: Any, config: Any, survives: int) -> None:
        self.context, self.task, self.config, self.survives = context, task, config, survives

    def launch(self, jobs: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[Any]:
        from hydra._internal.core_plugins.basic_launcher import BasicLauncher

        basic = BasicLauncher()
        basic.setup(hydra_context=self.context, task_function=self.task, config=self.config)
        if self.survives:
            basic.launch(jobs[: self.survives], initial_job_idx)
        raise RuntimeError("a worker was terminated\nlong story")


@pytest.mark.parametrize(("survives", "code"), [(1, 1), (0, 2)])
def test_a_launcher_that_fails_leaves_a_complete_table(
    quick: Quick, own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    survives: int, code: int,
) -> None:  # fmt: skip
    def launcher(self: object, *, hydra_context: Any, task_function: Any, config: Any) -> Dying:
        return Dying(hydra_context, task_function, config, survives)

    monkeypatch.setattr(Plugins, "instantiate_launcher", launcher)
    other = "hydra.launcher._target_=hydra_plugins.other.Launcher"
    assert cli.main(["-m", "seed=0,1,2", other]) == code
    place = only_sweep(own_world / "runs")
    jobs = books(place)["jobs"]
    assert [job["status"] for job in jobs] == ["done"] * survives + ["not_started"] * (3 - survives)
    assert capsys.readouterr().err == "msprun: the launcher stopped: a worker was terminated\n"
    assert books(place)["exit_code"] == code


def test_an_experiment_may_sweep_folders_beside_its_workspace(quick: Quick, own_world: Path) -> None:
    write(
        own_world / ".msprun/experiment/many.yaml",
        "# @package _global_\nhydra: {mode: MULTIRUN, sweeper: {params: {op: 'add,./mine', check: 'off,strict'}}}\n",
    )
    (own_world / "mine").mkdir()
    assert cli.main(["experiment=many", "seed=1,2"]) == 0
    swept = [job["swept"] for job in books(only_sweep(own_world / "runs"))["jobs"]]
    mine = str(own_world / "mine")
    assert swept == [
        {"op": op, "check": check, "seed": seed}
        for op in ("add", mine) for check in ("none", "strict") for seed in ("1", "2")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["cases=[0],[1,2]"], [{"cases": "[0]"}, {"cases": "[1,2]"}]),
        (["budget_s=0.5,1"], [{"budget_s": "0.5"}, {"budget_s": "1"}]),
        (["repeats=1,1,1"], [{"repeats": "1"}] * 3),
        (["check=glob(*o*e)"], [{"check": "close"}, {"check": "none"}]),
        (["order=choice(sequential,interleaved)"], [{"order": "sequential"}, {"order": "interleaved"}]),
        (["hydra.verbose=true", "seed=1,2"], [{"seed": "1"}, {"seed": "2"}]),
        (["seed=3"], [{}]),
        (["+experiment=smoke,thorough"], [{"experiment": "smoke"}, {"experiment": "thorough"}]),
        (["op='./a,b',add"], [{"op": "{here}/a,b"}, {"op": "add"}]),
        (["op.candidate.file=a.py,'b c.py'"], [{"op.candidate.file": "a.py"}, {"op.candidate.file": "b c.py"}]),
    ],
)
def test_what_can_be_swept(quick: Quick, own_world: Path, words: list[str], values: list[dict[str, str]]) -> None:
    (own_world / "a,b").mkdir()
    assert cli.main([*words, "-m"]) == 0
    wanted = [{key: text.replace("{here}", str(own_world)) for key, text in value.items()} for value in values]
    assert [job["swept"] for job in books(only_sweep(own_world / "runs"))["jobs"]] == wanted


def test_a_dry_run_of_a_sweep_writes_nothing(
    quick: Quick, own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends(monkeypatch, quick, 0, 0)
    assert cli.main(["-m", "seed=0,1", "dry_run=true"]) == 0
    assert capsys.readouterr().out.splitlines() == ["job 0 (1/2)  seed=0", "job 1 (2/2)  seed=1"]
    assert list(own_world.iterdir()) == []


def test_the_jobs_of_a_sweep_know_that_they_are(quick: Quick, own_world: Path) -> None:
    cli.main(["-m", "seed=0,1"])
    place = only_sweep(own_world / "runs")
    assert [job.run_id for job in quick.seen] == [f"{place.name[-6:]}-{n}" for n in range(2)]
    assert [job.folder for job in quick.seen] == [place / "0", place / "1"]
    assert all(job.is_sweep and not job.resume for job in quick.seen)


@pytest.mark.process
def test_thirty_jobs_as_ten_sweeps_at_once_lose_nothing(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeping.stand_in(monkeypatch)
    pids = [sweeping.started("-m", "seed=0,1,2", "out=deep/runs") for _ in range(10)]
    assert [sweeping.ended(pid) for pid in pids] == [0] * 10
    places = sorted((own_world / "deep" / "runs").glob("*-sweep-*"))
    assert len(places) == 10
    tables = [table(place) for place in places]
    assert all(one == tables[0] for one in tables)
    assert [row[2] for row in tables[0]] == ["done"] * 3
    assert sum(len(sweeping.measured(place)) for place in places) == 30
    assert (own_world / "deep" / "runs" / ".gitignore").read_text() == "*\n"
