"""resume= and rerun=: what is measured again, what is refused, and sweeps killed at any moment."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from msprun import cli, sweep
from msprun.replay import differences
from tests import sweeping
from tests.asked import write
from tests.sweeping import Quick, books, measured, only_sweep, table


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    return sweeping.stand_in(monkeypatch)


def line(capsys: pytest.CaptureFixture[str]) -> str:
    """The first line on stderr, without our name."""
    return capsys.readouterr().err.splitlines()[0].removeprefix("msprun: ")


def only_run(out: Path) -> Path:
    (found,) = (path for path in out.iterdir() if path.is_dir())
    return found


def interrupted_sweep(patch: pytest.MonkeyPatch, here: Path, *words: str) -> Path:
    """A sweep of three jobs that was stopped in the second, before its last case."""
    with patch.context() as within:
        mode = sweeping.stand_in(within)
        measure = mode._measure

        def stop(place: Path, case: int) -> None:
            if place.name == "1" and case == 2:
                raise KeyboardInterrupt
            measure(place, case)

        within.setattr(mode, "_measure", stop)
        assert cli.main(["-m", "seed=0,1,2", *words]) == 130
    return only_sweep(here / "runs")


def test_a_resumed_sweep_measures_only_what_is_left(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = interrupted_sweep(monkeypatch, own_world)
    assert measured(place) == [["0", "1", "2"], ["0", "1"], []]
    quick = sweeping.stand_in(monkeypatch)
    elsewhere = own_world / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    capsys.readouterr()
    assert cli.main([f"resume=../runs/{place.name}"]) == 0
    assert measured(place) == [["0", "1", "2"]] * 3
    assert [(i.folder.name, i.resume, i.run_id) for i in quick.seen] == [
        ("1", True, f"{place.name[-6:]}-1"), ("2", False, f"{place.name[-6:]}-2"),
    ]  # fmt: skip
    assert quick.seen[0].cwd == own_world and Path.cwd() == elsewhere
    assert [job["status"] for job in books(place)["jobs"]] == ["done"] * 3 and books(place)["complete"]
    out = capsys.readouterr().out
    assert "job 0 (1/3)  seed=0  done before, kept" in out and "3 jobs: 3 done; exit code 0" in out


def test_a_finished_sweep_resumes_to_its_table_and_code(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["-m", "seed=0,13"]) == 1
    place = only_sweep(own_world / "runs")
    before = table(place)
    quick.seen.clear()
    assert cli.main([f"resume={place}", "print=json"]) == 1
    assert quick.seen == [] and table(place) == before
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["jobs"] == {"total": 2, "done": 1, "failed": 1}


def test_what_failed_by_a_bug_or_was_refused_runs_again(
    quick: Quick, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["-m", "seed=14,1"]) == 1
    place = only_sweep(own_world / "runs")
    monkeypatch.setattr(sweeping, "BUG", -1)
    assert cli.main([f"resume={place}"]) == 0
    assert [row[2] for row in table(place)] == ["done", "done"] and table(place)[0][6] is None


def test_a_resumed_sweep_goes_on_after_what_stopped_it_by_fail_fast(quick: Quick, own_world: Path) -> None:
    assert cli.main(["-m", "seed=13,1,2", "fail_fast=true"]) == 1
    place = only_sweep(own_world / "runs")
    assert cli.main([f"resume={place}"]) == 1
    assert [row[2] for row in table(place)] == ["failed", "done", "done"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["repeats=7"], "repeats: auto -> 7"),
        (["seed=0,1"], "jobs: 3 -> 2"),
        (["seed=0,1,5"], "job 2: seed=2 -> seed=5; seed: 2 -> 5"),
        (["check=strict", "budget_s=1"], "check.level: L0 -> L2; budget_s: 2.0 -> 1.0"),
    ],
)
def test_a_changed_sweep_is_refused_with_the_difference(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], what: str
) -> None:
    place = interrupted_sweep(monkeypatch, own_world)
    quick = sweeping.stand_in(monkeypatch)
    before = table(place)
    capsys.readouterr()
    assert cli.main([f"resume={place}", *words]) == 2
    told = line(capsys)
    assert told.startswith("the request has changed: ")
    assert set(told.removeprefix("the request has changed: ").split("; ")) == set(what.split("; "))
    assert quick.seen == [] and table(place) == before


def test_a_changed_config_file_is_refused_and_rerun_says_so(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(own_world / ".msprun/defaults.yaml", "budget_s: 3\n")
    place = interrupted_sweep(monkeypatch, own_world)
    sweeping.stand_in(monkeypatch)
    write(own_world / ".msprun/defaults.yaml", "budget_s: 4\n")
    capsys.readouterr()
    assert cli.main([f"resume={place}"]) == 2
    assert line(capsys) == "the request has changed: budget_s: 3.0 -> 4.0"
    assert cli.main([f"rerun={place}"]) == 0
    assert line(capsys) == "since then: budget_s: 3.0 -> 4.0"
    (new,) = set((own_world / "runs").glob("*-sweep-*")) - {place}
    assert [row[2] for row in table(new)] == ["done"] * 3
    assert books(new)["sweep_id"] != books(place)["sweep_id"] and new.name.endswith(books(new)["sweep_id"])


def test_a_changed_operator_is_refused(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write(own_world / "mine/model.py", "one\n")
    place = interrupted_sweep(monkeypatch, own_world, "op=./mine")
    sweeping.stand_in(monkeypatch)
    model.write_text("two\n")
    capsys.readouterr()
    assert cli.main([f"resume={place}"]) == 2
    assert line(capsys) == f"the request has changed: {model} has changed"


def test_a_run_is_taken_up_again_in_its_folder(quick: Quick, own_world: Path) -> None:
    assert cli.main(["seed=3", "op=softmax"]) == 0
    place = only_run(own_world / "runs")
    (place / "case-1").unlink()
    assert cli.main([f"resume={place}"]) == 0
    again = quick.seen[1]
    assert (again.folder, again.resume, again.run_id) == (place, True, quick.seen[0].run_id)


def test_a_rerun_of_a_run_has_a_folder_of_its_own(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["seed=3", "op=softmax", "prof_tag=x"]) == 0
    place = only_run(own_world / "runs")
    assert cli.main([f"rerun={place}", "seed=4"]) == 0
    assert line(capsys) == "since then: seed: 3 -> 4"
    again = quick.seen[1]
    assert again.folder.parent == place.parent and again.folder != place and not again.resume
    assert again.overrides == ("seed=3", "op=softmax", "prof_tag=x", "seed=4")


def test_a_job_of_a_sweep_can_be_rerun_alone_but_not_resumed(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        own_world / ".msprun/experiment/many.yaml",
        "# @package _global_\nhydra: {mode: MULTIRUN, sweeper: {params: {seed: '0,1'}}}\n",
    )
    assert cli.main(["experiment=many"]) == 0
    place = only_sweep(own_world / "runs")
    assert cli.main([f"resume={place}/1"]) == 2
    assert line(capsys) == f"{place}/1 is a job of a sweep"
    assert cli.main([f"rerun={place}/1"]) == 0
    assert not quick.seen[-1].is_sweep and "seed=1" in quick.seen[-1].overrides
    assert quick.seen[-1].folder.parent == own_world / "runs"


def test_requests_with_odd_paths_are_replayed(quick: Quick, own_world: Path) -> None:
    folder = own_world / "it's 算, 子"
    folder.mkdir()
    assert cli.main([f"op=./{folder.name}", "out=my runs", 'op.name="a\'b"']) == 0
    place = only_run(own_world / "my runs")
    assert cli.main([f"resume={place}"]) == 0
    assert quick.seen[1].folder == place
    assert cli.main([f"rerun={place}"]) == 0
    assert quick.seen[2].folder.parent == own_world / "my runs"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["resume=nope"], "resume=nope: there is no such folder"),
        (["resume="], "resume=: there is no such folder"),
        (["rerun=."], "{here} is no folder of a run or a sweep"),
        (["resume=a", "rerun=b"], "rerun=b does not go with resume=a"),
        (["-m", "resume=a"], "-m does not go with resume=a"),
        (["+experiment=resumes"], "resume is for the command line"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_one_line(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str], words: list[str], what: str
) -> None:
    write(own_world / ".msprun/experiment/resumes.yaml", "# @package _global_\nresume: somewhere\n")
    assert cli.main(words) == 2
    assert line(capsys) == what.format(here=own_world)


def test_folders_of_another_version_are_refused(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([]) == 0 and cli.main(["-m", "seed=1,2"]) == 0
    for file in (*own_world.glob("runs/*/result.json"), *own_world.glob("runs/*/sweep.json")):
        file.write_text(file.read_text().replace('"schema_version": 1', '"schema_version": 99'))
        for key in ("resume", "rerun"):
            assert cli.main([f"{key}={file.parent}"]) == 2
            assert "has version 99, this msprun writes version 1" in line(capsys)


def test_a_sweep_that_is_still_run_is_refused(
    quick: Quick, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["-m", "seed=1,2"]) == 0
    place = only_sweep(own_world / "runs")
    with sweep.owned(place):
        assert cli.main([f"resume={place}"]) == 2
    assert line(capsys) == f"{place} is being run by another msprun"


def test_the_folder_where_it_was_typed_must_be_there(
    quick: Quick, own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (own_world / "gone").mkdir()
    monkeypatch.chdir(own_world / "gone")
    assert cli.main([f"out={own_world}/runs"]) == 0
    monkeypatch.chdir(own_world)
    shutil.rmtree(own_world / "gone")
    assert cli.main([f"resume={only_run(own_world / 'runs')}"]) == 2
    assert line(capsys) == f"the request was typed in {own_world}/gone: No such file or directory"


def test_differences_name_keys_and_both_values() -> None:
    before = {"a": 1, "op": {"dir": "/x", "name": None}, "print": "text", "lang": "en", "old": 3}
    now = {"a": 2, "op": {"dir": "/y", "work": "???"}, "print": "json", "lang": "zh", "new": None}
    assert differences(before, now) == ["a: 1 -> 2", "op.dir: /x -> /y", "old: 3 -> null"]


def seen(out: Path) -> int:
    """How many cases a sweep that is under way has measured; -1 before its books are there."""
    if not list(out.glob("*-sweep-*/sweep.json")):
        return -1
    return sum(len(file.read_text().split()) for file in out.glob("*-sweep-*/*/measured"))


@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_sweep_killed_at_any_moment_resumes_to_the_same_table(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeping.stand_in(monkeypatch, pause_s=0.03)
    words = ("-m", "seed=0,13")
    assert sweeping.ended(sweeping.started(*words, "out=whole")) == 1
    wanted = table(only_sweep(own_world / "whole"))
    dice = random.Random(8)
    for moment in range(20):
        out = own_world / str(moment)
        pid = sweeping.started(*words, f"out={out}")
        while seen(out) < moment % 7:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.05))
        os.kill(pid, signal.SIGKILL)
        sweeping.ended(pid)
        place = only_sweep(out)
        before = measured(place)
        assert sweeping.ended(sweeping.started(f"resume={place}")) == 1
        assert table(place) == wanted
        assert all(cases[: len(part)] == part for cases, part in zip(measured(place), before, strict=True))
        # The kill may fall between measuring a case and noting that it was.
        assert all(sorted(set(cases)) == ["0", "1", "2"] and len(cases) <= 4 for cases in measured(place))


@pytest.mark.process
def test_a_sweep_killed_before_its_books_leaves_nothing_that_seems_one(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeping.stand_in(monkeypatch)
    monkeypatch.setattr(sweep, "_write", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    assert sweeping.ended(sweeping.started("-m", "seed=0,1")) == -signal.SIGKILL
    place = only_sweep(own_world / "runs")
    assert cli.main([f"resume={place}"]) == 2
