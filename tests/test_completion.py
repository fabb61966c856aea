"""What may follow on a command line; and that real shells take it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from msprun import completion, config, search
from msprun.errors import ConfigError
from msprun.keywords import KEYWORDS, SWITCHES
from msprun.resources import data_folder
from tests.asked import write
from tests.terminal import START, Terminal

ROOT = Path(__file__).resolve().parents[1]


def proposed(line: str) -> list[str]:
    """The whole words that may stand at the end of a line, which begins behind `msprun`."""
    env = {**os.environ, "COMP_LINE": f"msprun {line}", "COMP_POINT": str(len(line) + 7)}
    return completion.answer(["-sc", "query=bash"], env).decode().splitlines()


def put_in(line: str, word: str) -> list[str]:
    """What bash puts in the place of `word`, its idea of the word at the end of the line."""
    env = {**os.environ, "COMP_LINE": f"msprun {line}", "COMP_POINT": str(len(line) + 7), "COMP_WORD": word}
    return completion.answer(["-sc", "query=bash"], env).decode().splitlines()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mo", ["mode="]),
        ("mode=q", ["mode=quick"]),
        ("mode=quick wa", ["warmup="]),
        ("op=add,m", ["op=add,matmul_gelu"]),
        ("-m op=softmax,s", []),
        ("+", ["+experiment="]),
        ("+experiment=sm", ["+experiment=smoke"]),
        ("experiment=sm", ["experiment=smoke"]),
        ("experiment=[smoke,th", ["experiment=[smoke,thorough"]),
        ("report=[json,l", ["report=[json,log"]),
        ("report=[json", ["report=[json"]),
        ("print=", ["print=text", "print=json"]),
        ("impl=c", ["impl=candidate"]),
        ("order=", ["order=interleaved", "order=sequential"]),
        ("fail_on=", ["fail_on=any", "fail_on=incorrect", "fail_on=failed", "fail_on=never"]),
        ("save_to_op=", ["save_to_op=auto", "save_to_op=true", "save_to_op=false"]),
        ("dry_run=", ["dry_run=true", "dry_run=false"]),
        ("warmup=", ["warmup=auto"]),
        ("seed=", []),
        ("check.l", ["check.level="]),
        ("check.level=", ["check.level=L0", "check.level=L1", "check.level=L2"]),
        (
            "op.check.",
            ["op.check.rtol=", "op.check.atol=", "op.check.threshold=", "op.check.compare=", "op.check.mask="],
        ),
        ("op.ch", ["op.check."]),
        ("device.", ["device.threads=", "device.id=", "device.physical=", "device.busy="]),
        ("device.b", ["device.busy="]),
        ("device.busy=w", ["device.busy=wait", "device.busy=warn"]),
        ("pro", ["prof_tag=", "profiler=", "profiler."]),
        ("--ve", ["--version"]),
        ("--cfg ", ["job", "hydra", "all"]),
        ("--info s", ["searchpath"]),
        ("-sc install=", ["install=bash", "install=zsh", "install=fish"]),
        ("warmup=1 warm", []),
        ("-- ./de", []),
        ("nonsense=", []),
    ],
)
def test_a_word_is_completed(line: str, words: list[str]) -> None:
    assert sorted(proposed(line)) == sorted(words)


def test_every_group_and_key_is_proposed_with_its_equals_sign() -> None:
    leaves = {key for key in config.schema_keys() if key.partition(".")[0] != "pages" and not key.endswith(".kind")}
    leaves -= {key.rpartition(".")[0] for key in leaves if "." in key}
    found: set[str] = set()
    ahead = [""]
    while ahead:
        words = proposed(ahead.pop())
        ahead += [word for word in words if word.endswith(".")]
        found |= {word.rstrip("=") for word in words if word.endswith("=")}
    assert found == leaves | {*config.GROUPS, "experiment"}


def test_every_keyword_belongs_to_a_key() -> None:
    assert {*KEYWORDS, *SWITCHES} <= set(config.schema_keys())


def test_each_option_of_each_group_is_proposed() -> None:
    for group, options in search.options([data_folder("conf")]).items():
        if group in (*config.GROUPS, "experiment"):
            assert sorted(proposed(f"{group}=")) == sorted(f"{group}={option}" for option in options)


@pytest.mark.parametrize("mode", search.options([data_folder("conf")])["mode"])
def test_behind_a_mode_only_the_keys_that_it_honours(mode: str) -> None:
    from msprun.mode import MODES

    assert completion.honoured(mode) == MODES[mode].KEYS
    keys = {word.rstrip("=") for word in proposed(f"mode={mode} ") if word.endswith("=")}
    assert "report" in keys
    assert keys - {"experiment", "report"} <= MODES[mode].KEYS


def test_behind_check_there_is_no_warmup() -> None:
    assert proposed("mode=check wa") == []
    assert proposed("mode=check --cfg job prof") == ["prof_tag="]


def test_a_mode_of_the_users_own_hides_nothing() -> None:
    assert completion.honoured("mine") is None
    assert completion.honoured("../quick") is None
    assert proposed("mode=mine wa") == ["warmup="]


def test_the_users_options_come_first(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own_world / ".msprun/op/zeta.yaml", "# What I am writing.\ndir: zeta\n")
    write(own_world / "more/op/yeta.yaml", "dir: yeta\n")
    monkeypatch.setenv("MSPRUN_CONF_PATH", str(own_world / "more"))
    assert proposed("op=")[:3] == ["op=yeta", "op=zeta", "op=add"]


def test_somebody_elses_configs_are_passed_over(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own_world / ".msprun/op/zeta.yaml", "dir: zeta\n")
    monkeypatch.setenv("MSPRUN_CONF_PATH", "/nowhere")
    assert proposed("op=z") == [] and proposed("op=so") == ["op=softmax"]


@pytest.fixture
def folders(own_world: Path) -> Path:
    for name in ("my op", "my_op", "算子", "deep/down", ".hidden"):
        (own_world / name).mkdir(parents=True)
    write(own_world / "my op/model.py", "")
    write(own_world / "file", "")
    return own_world


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("op=.", ["op=./"]),
        ("op=./", ["op=./deep/", "op=./my op", "op=./my_op/", "op=./算子/"]),
        ("op=./de", ["op=./deep/"]),
        ("op=./deep/", ["op=./deep/down/"]),
        ("op=add,./deep/d", ["op=add,./deep/down/"]),
        ("op=./.h", ["op=./.hidden/"]),
        ("op=./my\\ ", ["op=./my op"]),
        ("'op=./my o", ["op=./my op"]),
        ("op=./nowhere/", []),
        ("out=m", ["out=my op", "out=my_op/"]),
        ("against=m", ["against=my op", "against=my_op/"]),
        ("python=./f", ["python=./file"]),
        ("--config-dir de", ["deep/"]),
    ],
)
@pytest.mark.usefixtures("folders")
def test_paths_are_completed(line: str, words: list[str]) -> None:
    assert proposed(line) == words


def test_the_home_folder_stands_for_itself() -> None:
    (Path.home() / "mine").mkdir()
    assert proposed("op=~/m") == ["op=~/mine/"]


@pytest.mark.parametrize(
    ("line", "word", "reply"),
    [
        ("mode=q", "q", ["quick "]),
        ("mode=", "", ["check ", "quick "]),
        ("-m mode=q", "q", ["quick"]),
        ("op=add,m", "add,m", ["add,matmul_gelu "]),
        ("wa", "wa", ["warmup="]),
        ("op=./my", "./my", ["./my\\ op ", "./my_op/"]),
        ("op=./my\\ ", "./my\\ ", ["./my\\ op "]),
        ("'op=./my ", "op=./my ", ["op=./my op"]),
        ("op='./my ", "./my ", ["./my op"]),
        ('op="./my ', "./my ", ["./my op"]),
        ("report=[json,l", "[json,l", ["[json,log"]),
    ],
)
@pytest.mark.usefixtures("folders")
def test_bash_gets_what_it_puts_in(line: str, word: str, reply: list[str]) -> None:
    assert put_in(line, word) == reply


def test_zsh_and_fish_get_descriptions() -> None:
    env = {**os.environ, "COMP_LINE": "msprun mode=q"}
    expected = "mode=quick\tCorrectness, then one timing round.\n"
    assert completion.answer(["-sc", "query=fish"], env).decode() == expected
    assert completion.answer(["--shell-completion", "query=zsh"], env).decode() == expected


def test_only_what_stands_before_the_cursor_counts() -> None:
    env = {**os.environ, "COMP_LINE": "msprun mode=quick warmup=5", "COMP_POINT": "13"}
    assert completion.answer(["-sc", "query=bash"], env) == b"mode=quick\n"


@pytest.mark.parametrize("env", [{}, {"COMP_LINE": "msprun op='"}, {"COMP_LINE": "x", "COMP_POINT": "-1"}])
def test_a_query_never_fails(env: dict[str, str]) -> None:
    assert isinstance(completion.answer(["-sc", "query=bash"], env), bytes)


def test_a_folder_that_is_gone_is_no_reason_to_speak(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "cwd", lambda: own_world / "gone")
    assert proposed("op=./") == []


@pytest.mark.parametrize("words", [["-sc"], ["-sc", "install=tcsh"], ["-sc", "remove=bash"]])
def test_another_order_is_refused(words: list[str]) -> None:
    with pytest.raises(ConfigError, match="-sc takes install=SHELL"):
        completion.answer(words, {})


def msprun(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(
        [sys.executable, "-m", "msprun", *words], capture_output=True, text=True, env=env, check=False
    )


@pytest.mark.process
def test_a_query_imports_nothing_heavy_and_says_nothing_on_stderr() -> None:
    program = (
        "import sys; from msprun.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'hydra', 'omegaconf', 'yaml', 'torch', 'pandas', 'numpy', 'jinja2', 'rich', 'msgspec', 'inspect'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COMP_LINE": "msprun mode=check op=add,m"}
    words = [sys.executable, "-c", program, "-sc", "query=bash"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "op=add,matmul_gelu\n", "[]\n")


def processor_ms(*words: str) -> float:
    """The least processor time of five starts: what else the machine does counts for little."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COMP_LINE": "msprun mode=check op=add,m"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    taken = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], env=env, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken) * 1e3


@pytest.mark.process
@pytest.mark.parametrize("words", [("-sc", "query=bash"), ("--help",), ("--version",)], ids=" ".join)
def test_what_must_be_there_at_once_takes_60_ms_over_a_bare_python(words: tuple[str, ...]) -> None:
    assert processor_ms("-m", "msprun", *words) - processor_ms("-c", "pass") <= 60


@pytest.mark.process
@pytest.mark.parametrize("flag", ["-sc", "--shell-completion"])
@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_is_printed_by_hydras_flag(flag: str, shell: str) -> None:
    done = msprun(flag, f"install={shell}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"query={shell}" in done.stdout
    assert "query" not in msprun(flag, f"uninstall={shell}").stdout


# Keys as they are typed, and the words that a command gets then. One terminal a shell, since they are slow to start.
TYPED = [
    ("msprun mode=q\tdry_run=t\t", ["mode=quick", "dry_run=true"]),
    ("msprun op=add,m\t", ["op=add,matmul_gelu"]),
    ("msprun +experiment=th\t", ["+experiment=thorough"]),
    ("msprun exp\tsm\t", ["experiment=smoke"]),
    ("msprun mode=check wa\t x=1", ["mode=check", "wa", "x=1"]),
    ("msprun op.check.rt\t1", ["op.check.rtol=1"]),
    ("msprun --ver\t", ["--version"]),
    ("msprun --cfg j\t", ["--cfg", "job"]),
    ("msprun op=./de\td\t", ["op=./deep/down/"]),
    ("msprun op=./my\\ \t", ["op=./my op"]),
    ("msprun 'op=./my \t", ["op=./my op"]),
    ("msprun op=./算\t", ["op=./算子/"]),
    ("msprun 'report=[json,l\t", ["report=[json,log"]),
]  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("shell", START)
def test_a_shell_completes_what_is_typed(folders: Path, tmp_path: Path, shell: str) -> None:
    with Terminal(shell, folders, tmp_path) as terminal:
        got = {keys: terminal.words(keys) for keys, _ in TYPED}
    assert got == dict(TYPED)


@pytest.mark.process
def test_bash_keeps_its_idea_of_words_and_forgets_us_on_uninstall(own_world: Path) -> None:
    script = (
        'before=$COMP_WORDBREAKS; eval "$("$@" -sc install=bash)"; complete -p msprun;'
        ' [ "$before" = "$COMP_WORDBREAKS" ] && eval "$("$@" -sc uninstall=bash)"; complete -p msprun; type _msprun'
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = ["bash", "-c", script, "-", sys.executable, "-m", "msprun"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert done.stdout.splitlines() == ["complete -o nosort -o nospace -F _msprun msprun"]
    assert "no completion specification" in done.stderr


@pytest.mark.process
def test_hydras_own_help_config_and_tree_work() -> None:
    assert "Hydra" in msprun("--hydra-help").stdout
    job = msprun("--cfg", "job", "mode=check")
    assert (job.returncode, job.stderr) == (0, "") and "warmup: auto" in job.stdout
    tree = msprun("--info", "defaults-tree")
    assert tree.returncode == 0 and "op: add" in tree.stdout
