"""Mistakes of quoting: the line that was meant, and that this line is right."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from msprun import retype
from msprun.errors import ConfigError
from tests.asked import Asked, stand_in

SWEEP = "to run each of them: msprun -m"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


def hint(asked: Asked, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The second line of a request that is refused."""
    assert asked(*words) == 2
    return capsys.readouterr().err.splitlines()[1].strip()


# What was typed, as a shell hands it over, and the hint.
MISTAKES = [
    (["cases=1,2,3"], f"for a list: msprun 'cases=[1,2,3]'; {SWEEP} cases=1,2,3"),
    (["op=add", "cases=1,2", "seed=1"],
     f"for a list: msprun op=add 'cases=[1,2]' seed=1; {SWEEP} op=add cases=1,2 seed=1"),
    (["cases=(1,2)"], f"for a list: msprun 'cases=[1,2]'; {SWEEP} cases=1,2"),
    (["cases={1,2}"], f"for a list: msprun 'cases=[1,2]'; {SWEEP} cases=1,2"),
    (["cases=[1,2"], f"for a list: msprun 'cases=[1,2]'; {SWEEP} cases=1,2"),
    (["cases=1,2]"], f"for a list: msprun 'cases=[1,2]'; {SWEEP} cases=1,2"),
    (["cases=[0,name", "with", "blank]"],
     f"for a list: msprun 'cases=[0,name with blank]'; {SWEEP} 'cases=0,name with blank'"),
    (["report=json,log"], "for a list: msprun 'report=[json,log]'"),
    (["experiment=smoke,thorough"],
     f"for a list: msprun 'experiment=[smoke,thorough]'; {SWEEP} experiment=smoke,thorough"),
    (["repeats=1,5"], f"{SWEEP} repeats=1,5"),
    (["mode=quick", "repeats=6,12", "dry_run=true"], f"{SWEEP} mode=quick repeats=6,12 dry_run=true"),
    (["seed=0, 1"], f"{SWEEP} seed=0,1"),
    (["seed=range(0,3)"], f"{SWEEP} 'seed=range(0,3)'"),
    (["seed=range(0,3"], f"{SWEEP} 'seed=range(0,3)'"),
    (["check=strict,close", "op=add"], f"{SWEEP} check=strict,close op=add"),
    (["op=[add, softmax]"], f"{SWEEP} op=add,softmax"),
    (["-m", "op=[add,softmax]", "seed=1"], f"{SWEEP} op=add,softmax seed=1"),
    (["op=add,softmax"], f"{SWEEP} op=add,softmax"),
    (["op=add,", "softmax"], f"{SWEEP} op=add,softmax"),
    (["op=add", "softmax"], f"{SWEEP} op=add,softmax"),
    (["op=add,"], "write msprun op=add"),
    (["op='add"], "write msprun op=add"),
    (["op=my", "dir/op"], "one word in quotes: msprun 'op=my dir/op'"),
    (["op=./my dir/op,add"], f"{SWEEP} 'op=./my dir/op,add'"),
    (["op.build=make a,b"], f"as one text: msprun \"op.build='make a,b'\"; {SWEEP} 'op.build=make a,b'"),
    (["op.name=it's"], "as text: msprun 'op.name=\"it'\"'\"'s\"'"),
    (["prof_tag=${x}"], r"for the text as it stands: msprun 'prof_tag=\${x}'"),
    (["op.build=echo ${env:HOME}"], r"for the text as it stands: msprun 'op.build=echo \${env:HOME}'"),
]  # fmt: skip


@pytest.fixture
def folders(own_world: Path) -> None:
    (own_world / "my dir" / "op").mkdir(parents=True)


def last_word(words: list[str]) -> str:
    """The wrong word, for the tests below: the one that Hydra or argv stumbles over."""
    return next((word for word in words if "=" not in word and word != "-m"), "") or next(
        word for word in words if re.search(r"[,(\[{'$]", word)
    )


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
@pytest.mark.usefixtures("folders")
def test_a_mistake_is_answered_with_the_whole_line(words: list[str], said: str) -> None:
    assert retype.retold(ConfigError("no", None, last_word(words)), words).hint == said


# The ways by which a mistake is found: Hydra's parser, its composing, our own reading, omegaconf's resolving.
FOUND = ["cases=1,2,3", "seed=range(0,3", "op=[add, softmax]", "op=my dir/op", "op='add", "seed=0, 1", "prof_tag=${x}"]


@pytest.mark.parametrize("line", FOUND)
@pytest.mark.usefixtures("folders")
def test_the_command_says_so(asked: Asked, capsys: pytest.CaptureFixture[str], line: str) -> None:
    words, said = next((words, said) for words, said in MISTAKES if " ".join(words) == line)
    assert hint(asked, capsys, *words) == said


LINES = {line for _, said in MISTAKES for line in re.findall(r"msprun (.*?)(?:; to run each|$)", said)}
TRIED = ["'cases=[1,2]'", "-m 'cases=0,name with blank'", "'experiment=[smoke,thorough]'", "-m 'seed=range(0,3)'",
         "'op=my dir/op'", "-m 'op=./my dir/op,add'", "\"op.build='make a,b'\"",
         r"'op.build=echo \${env:HOME}'"]  # fmt: skip


@pytest.mark.parametrize("line", TRIED)
@pytest.mark.usefixtures("folders")
def test_the_line_that_is_proposed_works(asked: Asked, line: str) -> None:
    assert line in LINES
    assert asked(*shlex.split(line)) == 0
    assert asked.requests


@pytest.mark.process
@pytest.mark.parametrize("word", ["seed=range(0,3)", "op.build='a b'", 'op.name="it\'s"', "a=$x `y` \\z!", "算 子", ""])
def test_bash_reads_a_quoted_word_as_it_was(word: str) -> None:
    done = subprocess.run(["bash", "-c", f"printf %s {retype.shell(word)}"], capture_output=True, text=True, check=True)
    assert done.stdout == word


def test_a_bare_word_that_belongs_nowhere_gets_both_forms(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    said = hint(asked, capsys, "prof_tag=my", "tag")
    assert said == "key=value; or, if it belongs to the word before it: msprun 'prof_tag=my tag'"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("prof_tag=${x}", "prof_tag: ${x} stands for no key"),
        ("op.name=${x}", "op.name: ${x} stands for no key"),
        ("out=runs/${x}", "out: ${x} stands for no key"),
        ("op.build=${env:HOME}", "op.build: ${env:...} stands for nothing that msprun knows"),
    ],
)
def test_an_interpolation_of_nothing_names_its_key(
    asked: Asked, capsys: pytest.CaptureFixture[str], word: str, message: str
) -> None:
    assert asked(word) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"msprun: {message}"


def test_an_interpolation_in_a_file_gets_the_escape(
    asked: Asked, capsys: pytest.CaptureFixture[str], own_world: Path
) -> None:
    file = own_world / ".msprun/op/mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("dir: mine\nbuild: make ${WHERE}\n")
    assert asked("op=mine") == 2
    said = ["msprun: op.build: ${WHERE} stands for no key", r"  for the text itself write \${WHERE}"]
    assert capsys.readouterr().err.splitlines() == said
    file.write_text("dir: mine\nbuild: make \\${WHERE}\n")
    assert asked.run("op=mine").op.build == "make ${WHERE}"


def test_an_escaped_dollar_stays_a_text(asked: Asked) -> None:
    assert asked.run(r"op.build=echo \${HOME}").op.build == "echo ${HOME}"


@pytest.mark.parametrize("name", [r"C:\ops\add", r"ops\my add", r"C:\算 子"])
def test_backslashes_of_paths_are_kept(asked: Asked, own_world: Path, name: str) -> None:
    (own_world / name).mkdir()
    assert asked.run(f"op={name}").op.dir == str(own_world / name)
    assert asked.run(f"op.dir={name}").op.dir == str(own_world / name)
    assert asked.run(f"out={name}").out == str(own_world / name)


def test_a_name_with_a_blank_in_a_list_is_one_name(asked: Asked) -> None:
    assert asked.run("cases=[0,name with blank]").cases == [0, "name with blank"]


def test_for_programs_the_hint_is_the_same(asked: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked("repeats=1,5", "print=json") == 2
    assert json.loads(capsys.readouterr().out)["next"] == f"{SWEEP} repeats=1,5 print=json"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a,b", True), ("a", False), ("[a,b]", False), ("'a,b'", False), ("range(0,3)", True), ("f(a,b)x", False),
     ("[a],[b]", True), ("{a:1},{b:2}", True)],
)  # fmt: skip
def test_several_values_are_those_with_a_comma_of_their_own(value: str, expected: bool) -> None:
    assert retype.several(value) is expected


def test_a_group_may_be_swept_while_one_of_its_keys_is_set(asked: Asked) -> None:
    assert asked("-m", "check=strict,close", "check.budget_s=5") == 0
    assert [(run.check.level, run.check.budget_s) for run, _ in asked.requests] == [("L2", 5.0), ("L0", 5.0)]


def test_lists_may_be_swept(asked: Asked) -> None:
    assert asked("-m", "cases=[0,1],[2]") == 0
    assert [run.cases for run, _ in asked.requests] == [[0, 1], [2]]
