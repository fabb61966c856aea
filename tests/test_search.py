"""Users' own configs: where they lie, who beats whom, and what is said of wrong ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msprun.resources import data_root
from tests.asked import Asked, stand_in, write


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


def home_defaults() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "msprun", "defaults.yaml")


def refused(asked: Asked, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The line of a request that is refused."""
    assert asked(*words) == 2
    return capsys.readouterr().err.splitlines()[0]


# Each layer alone above those before it; the last one wins.
LAYERS = ["packaged", "home", "workspace", "mode", "experiment", "command line"]


@pytest.mark.parametrize("top", range(len(LAYERS)), ids=LAYERS)
def test_a_layer_beats_those_below_it(asked: Asked, own_world: Path, top: int) -> None:
    words = []
    if top >= 1:
        write(home_defaults(), "warmup: 1\n")
    if top >= 2:
        write(own_world / ".msprun/defaults.yaml", "warmup: 2\n")
    if top >= 3:
        write(own_world / ".msprun/mode/quick.yaml", "# @package _global_\nwarmup: 3\n")
    if top >= 4:
        write(own_world / ".msprun/experiment/mine.yaml", "# @package _global_\nwarmup: 4\n")
        words.append("experiment=mine")
    if top >= 5:
        words.append("warmup=5")
    assert asked.run(*words).warmup == ("auto", 1, 2, 3, 4, 5)[top]


def test_a_defaults_file_chooses_options(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/defaults.yaml", "op: softmax\ndevice: cpu\ncheck: strict\nreport: [json]\n")
    invocation = asked.invocation()
    run = asked.requests[0][0]
    assert invocation.choices == {
        "mode": "quick", "op": "softmax", "device": "cpu", "profiler": "auto", "check": "strict", "report": "json",
    }  # fmt: skip
    assert (run.op.name, run.check.level, list(run.pages)) == ("softmax", "L2", ["json"])


def test_the_command_line_chooses_against_a_defaults_file(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/defaults.yaml", "op: softmax\ncheck: off\n")
    assert asked.run().check.rule == "none"
    run = asked.run("op=rmsnorm", "check=close")
    assert (run.op.name, run.check.rule) == ("rmsnorm", "close")


def test_a_defaults_files_values_beat_those_of_options(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/defaults.yaml", "check: {budget_s: 3}\nprofiler: {visits: 2}\n")
    run = asked.run("check=strict")
    assert (run.check.level, run.check.budget_s, run.profiler.visits) == ("L2", 3.0, 2)


def test_a_defaults_file_may_hold_keys_that_the_mode_ignores(asked: Asked, own_world: Path) -> None:
    write(own_world / ".msprun/defaults.yaml", "warmup: 2\n")
    assert asked.run("mode=check").warmup == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("warmpu: 3\n", "there is no key warmpu; did you mean warmup?"),
        ("check: {levle: L1}\n", "there is no key check.levle; did you mean check.level?"),
        ("seed: abc\n", "seed=abc is not a whole number"),
        ("op: [add, softmax]\n", "op takes one option"),
    ],
)
def test_a_wrong_defaults_file_is_named(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file = write(own_world / ".msprun/defaults.yaml", text)
    assert refused(asked, capsys) == f"msprun: {file}: {message}"


def test_broken_yaml_is_told_by_file_and_line(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(own_world / ".msprun/op/broken.yaml", "dir: x\nname: [y\n")
    assert refused(asked, capsys, "op=broken").startswith(f"msprun: {file}, line 3: ")
    twice = write(own_world / ".msprun/op/twice.yaml", "dir: x\ndir: y\n")
    assert refused(asked, capsys, "op=twice") == f"msprun: {twice}, line 2: found duplicate key dir"


def test_a_wrong_key_of_an_option_file_is_told_by_file(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(own_world / ".msprun/op/typo.yaml", "dir: x\nnmae: y\n")
    assert refused(asked, capsys, "op=typo") == "msprun: op/typo.yaml: there is no key op.nmae; did you mean op.name?"


def test_a_workspace_file_called_msprun_is_refused(
    asked: Asked, own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(own_world / ".msprun/msprun.yaml", "warmup: 3\n")
    assert refused(asked, capsys) == f"msprun: {file} would hide all of msprun's defaults"


def test_the_conf_path_comes_first_then_the_nearest_workspace(
    asked: Asked, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("one", "two", ".msprun"):
        for name in {"one": ("a",), "two": ("a", "b"), ".msprun": ("a", "b", "add")}[place]:
            write(own_world / place / "op" / f"{name}.yaml", f"dir: /{place}\n")
    below = own_world / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.setenv("MSPRUN_CONF_PATH", f"../../one{os.pathsep}{own_world / 'two'}")
    assert [asked.run(f"op={name}").op.dir for name in ("a", "b", "add")] == ["/one", "/two", "/.msprun"]


def test_a_conf_path_that_is_not_there_is_refused(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MSPRUN_CONF_PATH", "/nowhere")
    assert refused(asked, capsys) == "msprun: MSPRUN_CONF_PATH names /nowhere, which is no folder"


def test_somebody_elses_workspace_is_refused(
    asked: Asked, own_world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(own_world / ".msprun/defaults.yaml", "warmup: 3\n")
    owner = os.getuid()
    if owner == 0:
        os.chown(own_world / ".msprun", 4242, -1)
        owner = 4242
    monkeypatch.setattr(os, "getuid", lambda: 4343)
    message = f"msprun: {own_world / '.msprun'} belongs to user {owner}; msprun reads only your own and root's"
    assert refused(asked, capsys) == message


def test_config_dir_adds_options_behind_the_packaged_ones(asked: Asked, own_world: Path) -> None:
    write(own_world / "extra/op/mine.yaml", "dir: mine\n")
    write(own_world / "extra/op/add.yaml", "dir: not_this\n")
    assert asked.run("--config-dir", "extra", "op=mine").op.dir == str(own_world / "mine")
    assert asked.run("op=add", "--config-dir=extra").op.dir == str(data_root() / "examples/add")
