"""The command: help, version, exit codes and the one line of an error."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from msprun import __version__, cli, search, suggest
from msprun.errors import ConfigError, MachineError
from msprun.resources import data_folder
from tests.asked import Asked, stand_in, write

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


def help_page(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert cli.main(words or ("--help",)) == 0
    return capsys.readouterr().out.splitlines()


def test_help_fits_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_page(capsys)
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_help_lists_every_option_of_every_group_and_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(help_page(capsys))
    for group, options in search.options([data_folder("conf")]).items():
        assert f"\n{group} " in text
        for option in options:
            assert any(option in re.split(r"[ ,*]+", line[11:]) for line in text.splitlines()), option
    for key, value in search.plain_values(data_folder("conf") / "msprun.yaml").items():
        assert f"{key}={value}" in text


def test_help_marks_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    marked = {name for line in help_page(capsys) for name in re.findall(r"(?<= )\*(\w+)", line)}
    assert marked == {"quick", "add", "auto", "default", "json", "log", "markdown", "csv"}


def test_help_stands_anywhere_and_beats_nonsense(capsys: pytest.CaptureFixture[str]) -> None:
    assert help_page(capsys, "warmpu=3", "-h") == help_page(capsys)


def test_help_knows_the_users_options_and_defaults(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own_world / ".msprun/op/mine.yaml", "# What I am writing.\ndir: mine\n")
    write(own_world / ".msprun/defaults.yaml", "warmup: 7\nop: mine\n")
    lines = help_page(capsys)
    assert any(re.search(r"^op .*\*mine\b", line) for line in lines)
    assert any("warmup=7" in line for line in lines)
    assert len(lines) <= 40


def test_help_with_many_options_still_fits(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(300):
        write(own_world / f".msprun/op/operator_number_{number}.yaml", "dir: x\n")
    lines = help_page(capsys)
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("...") and "operator_number_" in line for line in lines)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"msprun {__version__}\n"


@pytest.mark.process
@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(flag: str) -> None:
    program = (
        "import sys; from msprun.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'hydra', 'omegaconf', 'yaml', 'torch', 'pandas', 'numpy', 'jinja2', 'rich', 'msgspec'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, flag],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.process
def test_python_m_msprun_returns_the_exit_code() -> None:
    words = [sys.executable, "-m", "msprun", "warmpu=3"]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "msprun: there is no key warmpu; did you mean warmup?\n  msprun --help lists the keys\n"


@pytest.mark.parametrize("code", [0, 1, 3, 4, 130])
def test_the_modes_code_is_the_exit_code(asked: Asked, code: int) -> None:
    asked.answers.append(code)
    assert asked() == code


@pytest.mark.parametrize("kind", [ConfigError, MachineError])
def test_an_error_of_the_user_is_a_line_and_a_hint(
    asked: Asked, capsys: pytest.CaptureFixture[str], kind: type[ConfigError]
) -> None:
    asked.answers.append(kind("torch is missing", "pip install torch"))
    assert asked() == 2
    assert capsys.readouterr() == ("", "msprun: torch is missing\n  pip install torch\n")


def test_with_print_json_an_error_is_one_object(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("print=json", "seed=abc") == 2
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "exit": 2,
        "error": "seed=abc is not a whole number",
        "next": "msprun --help shows its default",
    }
    assert err.startswith("msprun: seed=abc is not a whole number\n")


def test_the_last_print_counts(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("print=json", "print=text", "seed=abc") == 2
    assert capsys.readouterr().out == ""


def test_hydra_full_error_shows_the_traceback(
    asked: Asked, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    assert asked("seed=abc") == 2
    err = capsys.readouterr().err
    assert "ValidationError" in err
    assert err.endswith("msprun: seed=abc is not a whole number\n  msprun --help shows its default\n")


def test_an_interrupt_is_130(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked.answers.append(KeyboardInterrupt())
    assert asked() == 130
    assert capsys.readouterr().err == "msprun: interrupted\n"


def test_a_bug_of_ours_shows_its_traceback(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    asked.answers.append(ZeroDivisionError("oops"))
    assert asked() == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.splitlines()[-1] == "msprun: this is a bug in msprun; please report it with the lines above"


@pytest.mark.process
def test_a_reader_that_went_away_is_no_error() -> None:
    words = f"{sys.executable} -m msprun --help | true; sleep 0.2"
    done = subprocess.run(
        ["bash", "-c", words], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stderr == ""


def test_an_error_without_a_hint_is_one_line() -> None:
    assert suggest.lines(ConfigError("no")) == "msprun: no"


WRONG = [
    (["warmpu=3"], "there is no key warmpu; did you mean warmup?"),
    (["+warmpu=3"], "there is no key warmpu; did you mean warmup?"),
    (["++check.levle=L1"], "there is no key check.levle; did you mean check.level?"),
    (["check.levle=L1"], "there is no key check.levle; did you mean check.level?"),
    (["rule=close"], "there is no key rule; did you mean check.rule?"),
    (["+op={zzz:1}"], "there is no key op.zzz"),
    (["op=ad"], "there is no op=ad; did you mean add?"),
    (["op=3"], "there is no op=3"),
    (["mode=quik"], "there is no mode=quik; did you mean quick?"),
    (["device=3"], "there is no device=3"),
    (["report=[json,marcdown]"], "there is no report=marcdown; did you mean markdown?"),
    (["experiment=smkoe"], "there is no experiment=smkoe; did you mean smoke?"),
    (["op=[add,softmax]"], "op=[add,softmax] names several operators"),
    (["check=[strict,close]"], "check needs one option"),
    (["~mode"], "mode needs one option"),
    (["op=add,softmax"], "op=add,softmax has several values"),
    (["warmup=1,2"], "warmup=1,2 has several values"),
    (["seed=range(0,3)"], "seed=range(0,3) has several values"),
    (["seed=range(0,3"], "cannot read seed=range(0,3"),
    (["cases=1,2,3"], "cases=1,2,3 is no list"),
    (["cases=[2,-1]"], "cases=-1 is out of range"),
    (["warmup=abc"], "warmup=abc is not auto or a whole number"),
    (["warmup=atuo"], "warmup=atuo is not auto or a whole number; did you mean auto?"),
    (["warmup=true"], "warmup=True is not auto or a whole number"),
    (["warmup=-1"], "warmup=-1 is out of range"),
    (["repeats=0"], "repeats=0 is out of range"),
    (["repeats=null"], "repeats cannot be null"),
    (["budget_s=0"], "budget_s=0.0 is out of range"),
    (["budget_s=true"], "budget_s=True is not a number"),
    (["seed=-1"], "seed=-1 is out of range"),
    (["seed=1.5"], "seed=1.5 is not a whole number"),
    (["keep_going=maybe"], "keep_going=maybe is not true or false"),
    (["impl=refrence"], "there is no impl=refrence; did you mean reference?"),
    (["save_to_op=ture"], "there is no save_to_op=ture; did you mean true?"),
    (["prof_tag=../x"], "prof_tag=../x cannot be part of a folder's name"),
    (["out="], "out is empty"),
    (["profiler.quads_min=500"], "profiler.quads_min=500 is more than profiler.quads_max=400"),
    (["mode=check", "warmup=1"], "mode=check does not honour warmup; use mode=quick or drop it"),
    (["mode=check", "profiler=clock"], "mode=check does not honour profiler; use mode=quick or drop it"),
    (["mode=check", "experiment=smoke"],
     "mode=check does not honour repeats (set by experiment=smoke); use mode=quick or drop it"),
    (["+warmup=3"], "warmup has a value already"),
    (["+device=cpu"], "device is chosen already"),
    (["op.reference.env.X=1"], "there is no key op.reference.env.X yet"),
    (["=3"], "cannot read '=3': no key before the ="),
    (["add"], "cannot read 'add': no = in it"),
    (["--warmup=3"], "there is no flag --warmup=3"),
    (["--versoin"], "there is no flag --versoin; did you mean --version?"),
    (["--config-name=x"], "there is no flag --config-name=x; did you mean --config-dir?"),
    (["--cfg"], "--cfg needs a value"),
    (["--", "./demo"], "no mode takes a program after --"),
    (["--config-dir", "nowhere"], "--config-dir nowhere is no folder"),
    (["--cfg", "job", "op=ad"], "there is no op=ad; did you mean add?"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_a_wrong_request_gets_one_line_and_one_hint(
    asked: Asked, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert asked(*words) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines[0] == f"msprun: {message}"
    assert all(line.startswith("  ") for line in lines[1:]) and len(lines) <= 2
    assert (out, asked.requests) == ("", [])
    assert not Path("runs").exists()


HINTS = [
    (["op=[add, softmax]"], "to run each of them: msprun -m op=add,softmax"),
    (["cases=1,2,3"], "for a list: msprun 'cases=[1,2,3]'; to run each of them: msprun -m cases=1,2,3"),
    (["seed=range(0,3)"], "to run each of them: msprun -m 'seed=range(0,3)'"),
    (["mode=quik"], "mode is one of: check, quick"),
    (["--warmup=3"], "keys have no dashes: warmup=3"),
    (["op.reference.env.X=1"], "to add it: +op.reference.env.X=..."),
]


@pytest.mark.parametrize(("words", "hint"), HINTS, ids=[" ".join(words) for words, _ in HINTS])
def test_the_hint_says_what_to_type(
    asked: Asked, capsys: pytest.CaptureFixture[str], words: list[str], hint: str
) -> None:
    assert asked(*words) == 2
    assert capsys.readouterr().err.splitlines()[1] == f"  {hint}"


def test_a_bare_word_that_is_a_folder_gets_the_right_form(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    Path("my_op").mkdir()
    assert asked("my_op") == 2
    assert capsys.readouterr().err.splitlines()[1] == "  for that folder: msprun op=./my_op"
