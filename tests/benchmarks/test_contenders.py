"""The command lines are what the table says: seen by stubs in the place of Python and msprun."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as entry
from benchmarks import answers, first_session, tables, twenty_cases
from benchmarks.place import Broken, Place
from benchmarks.twenty_cases import round_share

RECORD = """\
import json, os, pathlib, sys, time
with open("words.jsonl", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""
PYTHON = """
if "bare.py" in sys.argv[1]:
    chosen = 1 if len(sys.argv) > 5 else 40
    print("\\n".join([json.dumps({"case": 0, "side": "reference", "calls": 4, "us": 1.0})] * chosen))
"""
MSPRUN = """
run = pathlib.Path("runs/1"); (run / "sessions" / "0").mkdir(parents=True)
rows = [{"ref_us": 1.0, "asc_us": 1.0}] * 20
(run / "result.json").write_text(json.dumps({"per_case": rows, "warmup": 3, "repeats": 1}))
"""


@pytest.fixture
def make(tmp_path: Path):
    """A place whose Python and msprun are stubs; the ending of msprun's can be chosen."""

    def placed(msprun: str = MSPRUN) -> Place:
        folder = tmp_path / "place"
        folder.mkdir()
        for name, body in (("python", PYTHON), ("msprun", msprun)):
            (tmp_path / f"{name}.py").write_text(RECORD + body)
        return Place(folder, *((sys.executable, str(tmp_path / f"{name}.py")) for name in ("python", "msprun")))

    return placed


def words(place: Place) -> list[list[str]]:
    return [json.loads(line) for line in (place.folder / "words.jsonl").read_text().splitlines()]


def test_ten_rounds_run_each_case_and_side_once() -> None:
    ran = [process for number in range(10) for process in round_share(number)]
    assert len(ran) == 40
    assert set(ran) == {(side, str(case)) for side in ("reference", "candidate") for case in range(20)}
    assert round_share(10) == round_share(0)


@pytest.mark.process
def test_row_1_asks_for_the_same_calls_of_all(make) -> None:
    place = make()
    for work in twenty_cases.contenders(place).values():
        assert work(0) > 0
    bare, plain, default, *processes = words(place)
    assert Path(bare[0]).name == "bare.py"
    assert bare[1:] == [str(place.operator), "3", "1"]
    assert plain == [*default, "check=none", "report=[json]"]
    assert default == ["mode=quick", "op=./gelu_norm", "device=cpu", "warmup=3", "repeats=1"]
    assert [process[4:] for process in processes] == [list(pair) for pair in round_share(0)]


@pytest.mark.process
def test_the_old_way_is_scaled_to_forty_processes(make, monkeypatch) -> None:
    monkeypatch.setattr(twenty_cases, "bare", lambda place, only: 2.0)
    assert twenty_cases.per_process(make(), 0) == 80.0


@pytest.mark.process
def test_fewer_cases_than_asked_for_are_no_figure(make) -> None:
    place = make(MSPRUN.replace("* 20", "* 19"))
    with pytest.raises(Broken, match="measured 19 cases"):
        twenty_cases.quick(place, ())


@pytest.mark.process
def test_a_command_that_fails_is_no_figure_and_says_why(make) -> None:
    place = make("sys.exit('no such thing')")
    with pytest.raises(Broken, match="ended with 1: no such thing"):
        place.seconds(place.msprun)


@pytest.mark.process
def test_row_4_reads_the_same_table_and_counts_its_rows(make, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(tables, "ROWS", 1000)
    monkeypatch.setattr(tables, "ROWS_DICTS", 100)
    place = make()
    place.python = (sys.executable,)
    for work in tables.contenders(place).values():
        assert work(0) > 0
    told = [json.loads(line) for line in (place.folder / "reads.jsonl").read_text().splitlines()]
    assert [(one["who"], one["rows"]) for one in told] == [("pyarrow", 1000), ("msprun", 1000), ("dicts", 100)]
    assert tables.note(place.folder).startswith("memory for 1,000 rows (0 MiB): msprun reader ")


@pytest.mark.process
def test_rows_that_were_not_read_are_no_figure(make, monkeypatch) -> None:
    place = make()
    (tables.table(place.folder, 10)).write_text("Op Name\n")
    place.python = (sys.executable,)
    with pytest.raises(Broken, match="dicts read 0 of 10 rows"):
        tables.seconds(place, "dicts", 10)


@pytest.mark.process
def test_row_5_asks_and_looks_at_the_answer(make) -> None:
    place = make('print(os.environ["COMP_LINE"], os.environ["COMP_POINT"], "mode=quick msprun 1")')
    for work in answers.contenders(place).values():
        work(0)
    assert words(place) == [["-c", "pass"], ["--help"], ["--version"], ["-sc", "query=bash"]]
    assert answers.completes(place)
    assert place.said("stdout").startswith("msprun mode= 12 ")


@pytest.mark.process
def test_completion_that_is_silent_is_not_built(make) -> None:
    assert not answers.completes(make(""))


@pytest.mark.process
def test_row_6_ends_when_the_session_begins_and_stops_msprun(make) -> None:
    slow = MSPRUN + 'time.sleep(0.3); (run / "sessions" / "0" / "wrapper.py").touch(); time.sleep(100)'
    place = make(slow)
    seconds = first_session.contenders(place)["first session"](0)
    assert 0.3 <= seconds < 60


@pytest.mark.process
def test_row_6_is_no_figure_where_no_session_begins(make) -> None:
    with pytest.raises(Broken, match="began no session"):
        first_session.contenders(make())["first session"](0)


def test_heavy_imports_are_read_off_a_trace() -> None:
    trace = "import time: 1 | 2 | os\nimport time: 5 | 9 |   pandas.core\nimport time: 5 | 9 |   pandas\nnumpy\n"
    assert first_session.heavy_imports(trace) == ("pandas",)


@pytest.mark.process
def test_what_does_not_run_fails_alone_and_makes_the_exit_code(make, monkeypatch, tmp_path, capsys) -> None:
    place = make("sys.exit(3)")
    monkeypatch.setattr(entry, "Place", lambda *_: place)
    monkeypatch.setattr(entry, "HERE", tmp_path)
    assert entry.main(["--quick", "--rows", "1,5"]) == 1
    said = capsys.readouterr().out
    assert said.count("did not run") == 5
    assert "not built" in said
    assert "FAILED: row 1" in said and "FAILED: row 5" in said
    path = Path(said.split("Results: ")[1].strip())
    assert len(json.loads(path.read_text())["failures"]) == 2
