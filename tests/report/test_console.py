"""What a run says while it goes on."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
import pytest

from msprun.model.measurement import Remark
from msprun.report.console import Console

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d)(?:;\d+)*m")
NAMES = (
    "mixed", "all_good", "all_failed", "check_mode", "one_sided", "not_checked", "partial", "hostile", "rates",
    "against",
)  # fmt: skip
Mode = Literal["text", "json"]


class Runner:
    """Plays a result through a console."""

    def __init__(self, made: ModuleType, plans: ModuleType) -> None:
        self.made, self.plans = made, plans

    def play(self, name: str, out: Any, err: Any, mode: Mode = "text") -> None:
        result = self.made.RESULTS[name]()
        with Console(mode, out, err) as console:
            console.start(self.plans.plan(result))
            for row in result.per_case:
                console.update(row)
            console.note("device is warm")
            console.finish(result, Path("/runs/one"))

    def text(self, name: str) -> str:
        out = io.StringIO()
        self.play(name, out, io.StringIO())
        return out.getvalue()


@pytest.fixture
def runner(made: ModuleType, plans: ModuleType) -> Runner:
    return Runner(made, plans)


@pytest.mark.parametrize("name", NAMES)
def test_file_gets_no_escape_sequence(runner: Runner, name: str) -> None:
    assert "\x1b" not in runner.text(name) and "\x9b" not in runner.text(name)


def test_dumb_terminal_gets_plain_lines(runner: Runner, tty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    runner.play("mixed", tty, io.StringIO())
    assert tty.getvalue() == runner.text("mixed")


def test_plain_lines_name_each_case_once_with_its_figures(runner: Runner) -> None:
    table = runner.text("mixed").split("\n\n")[0].splitlines()
    assert table[0] == "msprun quick: toy_norm, 6 cases, cpu (Toy CPU 5000), profiler clock"
    assert table[2].split() == "0 [64, 512] float16 correct 84.20 21.05 3.99x 3.91 - 4.06 faster".split()
    assert table[5].split() == "3 [67, 512] float16 incorrect 310.25 – – – –".split()
    assert [line.split()[0] for line in table[2:8]] == ["0", "1", "2", "3", "4", "5"]


def test_line_comes_when_nothing_more_will_change_the_case(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    result = made.result(made.FASTER)
    console = Console("text", out, io.StringIO())
    console.start(plans.plan(result))
    before = out.getvalue()
    console.update(msgspec.structs.replace(made.FASTER, stop=None, ref_us=999.0))
    assert out.getvalue() == before
    console.update(made.FASTER)
    assert out.getvalue().count("84.20") == 1
    console.finish(result, None)
    assert out.getvalue().count("84.20") == 1


def test_case_that_changed_after_its_line_gets_another(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    console = Console("text", out, io.StringIO())
    console.start(plans.plan(made.result(made.FASTER)))
    console.update(made.FASTER)
    failed = msgspec.structs.replace(made.FAILED, case=0)
    console.finish(made.result(failed), None)
    assert [" failed " in line for line in out.getvalue().splitlines()].count(True) >= 1


def test_summary_says_failures_with_next_step_and_log(runner: Runner) -> None:
    summary = runner.text("mixed").split("\n\n")[1]
    assert summary.splitlines()[0] == (
        "3 of 5 cases correct, 1 incorrect, 1 failed, 1 skipped; geomean 1.48x (1.44 - 1.52) over 3 cases: "
        "1 faster, 1 slower, 1 unresolved"
    )
    assert summary.index("Wrong results:") < summary.index("Failures:") < summary.index("Remarks:")
    assert "next: python wrapper.py case=4" in summary and "log: /runs/one/sessions/1/stderr.log" in summary
    assert summary.splitlines()[-1] == "Results: /runs/one"


def test_interrupted_run_says_how_to_go_on_whatever_is_remarked(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    measured = msgspec.structs.replace(made.FASTER, remarks=(Remark(code="host_bound", figures={}),))
    result = made.result(measured, made.row(1, "pending"), complete=False, exit_code=130)
    Console("text", out, io.StringIO()).finish(result, Path("/runs/1"))
    assert "Remarks:" in out.getvalue()
    assert "Next: go on with it: msprun resume=" in out.getvalue()


def test_check_mode_has_no_column_of_speed(runner: Runner) -> None:
    text = runner.text("check_mode")
    assert "speedup" not in text and " us" not in text.split("\n\n")[0]
    assert "1 of 2 cases correct, 1 incorrect, 1 skipped" in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", ["80", "140"])
def test_table_fits_the_terminal(
    runner: Runner, tty: Any, monkeypatch: pytest.MonkeyPatch, name: str, size: str
) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", size)
    runner.play(name, tty, io.StringIO())
    shown = ANSI.sub("", tty.getvalue()).split("\n\n")[0].replace("\r", "\n").splitlines()
    table = [line for line in shown if "float16" in line or "─" in line]
    assert table and max(map(cell_len, table)) <= int(size)


def test_table_of_80_columns_keeps_each_usual_case_on_one_line(runner: Runner, tty: Any) -> None:
    runner.play("mixed", tty, io.StringIO())
    last = ANSI.sub("", tty.getvalue().split("\x1b[?25h")[0]).splitlines()
    assert any(
        line.split() == "2 [66, 512] bfloat16 correct 100.50 99.25 1.01x 0.97-1.05 unresolved".split() for line in last
    )


def test_terminal_is_left_in_order_when_the_run_breaks(made: ModuleType, plans: ModuleType, tty: Any) -> None:
    with pytest.raises(KeyboardInterrupt), Console("text", tty, io.StringIO()) as console:
        console.start(plans.plan(made.mixed()))
        raise KeyboardInterrupt
    assert tty.getvalue().rindex("\x1b[?25h") > tty.getvalue().rindex("\x1b[?25l")


def test_names_bring_no_escape_sequence_to_the_terminal(runner: Runner, tty: Any) -> None:
    runner.play("hostile", tty, io.StringIO())
    assert "\x1b[31mred" not in tty.getvalue() and "\x9b" not in tty.getvalue() and "\u202e" not in tty.getvalue()


def test_no_color_is_honoured(runner: Runner, tty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.play("mixed", tty, io.StringIO())
    coloured = tty.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = type(tty)()
    runner.play("mixed", plain, io.StringIO())
    assert COLOUR.search(coloured) and not COLOUR.search(plain.getvalue())


def test_live_table_shows_only_what_the_terminal_has_room_for(
    made: ModuleType, plans: ModuleType, tty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "20")
    rows = [msgspec.structs.replace(made.FASTER, case=n, shape=f"[{n}, 1]") for n in range(100)]
    result = made.result(*rows)
    console = Console("text", tty, io.StringIO())
    console.start(plans.plan(result))
    start = len(tty.getvalue())
    console.update(rows[50])
    frame = ANSI.sub("", tty.getvalue()[start:])
    assert "[50, 1]" in frame and "[0, 1]" not in frame and len(frame.splitlines()) <= 20
    console.finish(result, None)
    assert "[0, 1]" in tty.getvalue()[start:] and "[99, 1]" in tty.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_json_mode_says_one_object_on_stdout_and_the_rest_on_stderr(runner: Runner, name: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    runner.play(name, out, err, "json")
    assert len(out.getvalue().encode()) <= 4096
    assert json.loads(out.getvalue())["path"] == "/runs/one"
    assert "Results: /runs/one" in err.getvalue() and "device is warm" in err.getvalue()


@pytest.mark.parametrize("mode", ["text", "json"])
@pytest.mark.parametrize("name", NAMES)
def test_ascii_stream_is_enough(runner: Runner, name: str, mode: Mode) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    runner.play(name, out, err, mode)


def test_ascii_json_is_still_json(runner: Runner) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    runner.play("hostile", file, io.StringIO(), "json")
    assert "算子" in json.loads(raw.getvalue())["worst"][0]["shape"] and len(raw.getvalue()) <= 4096


def test_ascii_terminal_draws_with_ascii(runner: Runner, tty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(tty), "encoding", "ascii", raising=False)
    runner.play("mixed", tty, io.StringIO())
    assert tty.getvalue().isascii()


@pytest.mark.parametrize("mode", ["text", "json"])
def test_reader_that_left_is_no_error(runner: Runner, mode: Mode) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as file:
        runner.play("mixed", file, io.StringIO(), mode)


def test_dry_run_prints_the_plan_as_an_outline(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    Console("text", out, io.StringIO()).plan(plans.plan(made.mixed()))
    text = out.getvalue()
    for part in (
        "operator toy_norm",
        "cases: 6 of 6",
        "5 case_5: [0, 512] float16 (skipped: empty tensor)",
        "sides: reference, candidate",
        "device cpu:0 (Toy CPU 5000)",
        "8 to 200 groups",
        "1: check+timing by clock, 6 cases",
        "/usr/bin/python3 wrapper.py",
        "device = cpu (auto: no accelerator here)",
        "warmup = auto (config)",
        "expected time: 9 s",
        "files in /runs/one",
    ):
        assert part in text


def test_dry_run_with_counts_says_them(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    plan = plans.plan(made.mixed(), schedule=plans.schedule(warmup=5, repeats=9))
    Console("text", out, io.StringIO()).plan(plan)
    assert "warmup 5, repeats 9" in out.getvalue() and "visits" not in out.getvalue()


def test_dry_run_on_a_terminal_is_a_tree(made: ModuleType, plans: ModuleType, tty: Any) -> None:
    Console("text", tty, io.StringIO()).plan(plans.plan(made.mixed()))
    assert "├── operator toy_norm" in ANSI.sub("", tty.getvalue())


def test_dry_run_as_json_is_the_whole_plan(made: ModuleType, plans: ModuleType) -> None:
    out = io.StringIO()
    plan = plans.plan(made.mixed())
    Console("json", out, io.StringIO()).plan(plan)
    assert tuple(json.loads(out.getvalue())) == plan.__struct_fields__


def test_rates_and_caches_follow_the_headline(runner: Runner) -> None:
    lines = runner.text("rates").split("\n\n")[1].splitlines()
    assert lines[1] == "Rates of a call (share: floor over time):"
    assert lines[3].split() == "0 1.557 6.227 0.0007783 0.003113 10.53 L2 12.5 % 50.0 %".split()
    assert lines[4].split() == "1 – – 25 20 2.00 compute 5.0 % 4.0 %".split()
    assert lines[5].startswith("Caches (rotate): calls walk over 2 to 64 sets of inputs, 8 to 512 MiB in all")
    assert "Rates" not in runner.text("mixed") and "Caches" not in runner.text("mixed")
