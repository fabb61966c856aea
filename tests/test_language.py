"""Which language is spoken, and what strings files hold."""

from __future__ import annotations

import json
import os
import re
import string
import subprocess
import sys
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from msprun.errors import ConfigError
from msprun.language import LANGUAGES, Words, choose
from msprun.model.failure import Stage
from msprun.model.measurement import State, StopReason, Verdict
from msprun.model.operator import Side
from msprun.resources import data_root

STRINGS = data_root() / "templates" / "strings"
TEMPLATES = data_root() / "templates"
LATIN = re.compile(r"[A-Za-z]{2,}")
# What Chinese readers know under no other name, and what is typed or read by programs.
SAME_IN_CHINESE = {
    "ACL", "GB", "Inf", "MARE", "MERE", "MiB", "NaN", "Python", "RMSE", "TFLOP", "libc", "msprun", "torch", "us",
    "auto", "fail_fast", "get_input_groups", "get_inputs", "repeats", "warmup",
    "model.py", "performance.json", "performance.log", "perf_report.md", "N/A",
}  # fmt: skip
# Labels of the old script, which are English there; tests/report/test_chinese.py has each of them by hand.
OLD_LABELS = {
    *(f"log.{key}" for key in ("title", "speedup", "geomean", "mean", "median", "min_max", "valid", "times")),
    *(f"log.{key}" for key in ("reference", "candidate", "total_speedup", "elapsed")),
    *(f"log.head.{key}" for key in ("case", "shape", "dtype", "reference", "candidate", "speedup")),
    *(f"report.{key}" for key in ("operator", "device", "warmup", "repeats", "seed", "method")),
    *(f"report.head.{key}" for key in ("case", "shape", "dtype")),
}


def tree(lang: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((STRINGS / f"{lang}.json").read_text(encoding="utf-8"))
    return loaded


def leaves(branch: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every dotted key with its texts: one, or those for one and for other."""
    for key, value in branch.items():
        if isinstance(value, str):
            yield prefix + key, (value,)
        elif set(value) <= {"one", "other"}:
            yield prefix + key, tuple(value.values())
        else:
            yield from leaves(value, f"{prefix}{key}.")


def placeholders(texts: tuple[str, ...]) -> set[str]:
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name is not None}


ENGLISH, CHINESE = (dict(leaves(tree(lang))) for lang in LANGUAGES)


@pytest.mark.parametrize(
    ("environ", "lang", "source", "why"),
    [
        ({}, "en", "auto", "neither MSPRUN_LANG nor a locale is set"),
        ({"MSPRUN_LANG": "zh"}, "zh", "env", "MSPRUN_LANG=zh"),
        ({"MSPRUN_LANG": "en", "LC_ALL": "zh_CN.UTF-8"}, "en", "env", "MSPRUN_LANG=en"),
        ({"MSPRUN_LANG": "auto", "LANG": "zh_CN.UTF-8"}, "zh", "env", "LANG=zh_CN.UTF-8"),
        ({"MSPRUN_LANG": "", "LANG": "zh"}, "zh", "env", "LANG=zh"),
        ({"MSPRUN_LANG": "ZH_cn"}, "zh", "env", "MSPRUN_LANG=ZH_cn"),
        ({"MSPRUN_LANG": "zh-Hans"}, "zh", "env", "MSPRUN_LANG=zh-Hans"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en", "env", "LC_ALL=C"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US"}, "zh", "env", "LC_MESSAGES=zh_TW.UTF-8"),
        ({"LANG": "C.UTF-8"}, "en", "env", "LANG=C.UTF-8"),
        ({"LANG": "de_DE.UTF-8"}, "en", "env", "LANG=de_DE.UTF-8"),
        ({"LC_CTYPE": "zh_CN.UTF-8"}, "en", "auto", "neither MSPRUN_LANG nor a locale is set"),
    ],
)
def test_own_variable_goes_before_the_locale(environ: dict[str, str], lang: str, source: str, why: str) -> None:
    found = choose(environ)
    assert (found.lang, found.source, found.why) == (lang, source, why)


def test_own_variable_with_another_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="MSPRUN_LANG=eng is no language of msprun; did you mean en") as caught:
        choose({"MSPRUN_LANG": "eng"})
    assert caught.value.hint == "MSPRUN_LANG is auto, en or zh"


@pytest.mark.parametrize(("lang", "count", "text"), [("en", 1, "1 case"), ("en", 0, "0 cases"), ("zh", 1, "1 个用例")])
def test_count_chooses_the_number(lang: str, count: int, text: str) -> None:
    assert Words(lang)("cases", count=count) == text


def test_braces_in_a_figure_are_text() -> None:
    assert Words("en")("next.read", log="{0.__class__}") == "read {0.__class__}"


def test_code_without_a_word_shows_itself() -> None:
    assert Words("zh").word("remark", "cosmic_ray") == "cosmic_ray"


def test_key_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError, match="nothing"):
        Words("en")("report.nothing")


def test_languages_have_the_same_keys_and_placeholders() -> None:
    assert sorted(file.stem for file in STRINGS.iterdir()) == sorted(LANGUAGES)
    assert sorted(ENGLISH) == sorted(CHINESE)
    differing = [key for key in ENGLISH if placeholders(ENGLISH[key]) != placeholders(CHINESE[key])]
    assert differing == []
    assert [key for key in ENGLISH if not all(ENGLISH[key])] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_placeholders_are_plain_names(lang: str) -> None:
    for texts in dict(leaves(tree(lang))).values():
        for text in texts:
            fields = [field for field in string.Formatter().parse(text) if field[1] is not None]
            assert all(str(name).isidentifier() and not spec and not how for _, name, spec, how in fields), text


@pytest.mark.parametrize(
    ("table", "codes"),
    [("state", State), ("verdict", Verdict), ("stop", StopReason), ("stage", Stage), ("side", Side)],
)
def test_every_code_has_a_word(table: str, codes: Any) -> None:
    assert set(tree("en")[table]) == set(typing.get_args(codes))


def uses() -> Iterator[tuple[str, bool]]:
    """Keys that templates and modules name, and whether more is appended; tables come as `table.` with more."""
    files = [*TEMPLATES.glob("*.j2"), *(data_root() / "msprun").rglob("*.py")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for key, more in re.findall(r"""\b(?:t|_?words|Words\([\w.]+\))\(\s*["']([\w.]+)["']\s*(~?)""", text):
            yield key, bool(more)
        for table in re.findall(r"""\bword\(\s*["'](\w+)["']""", text):
            yield f"{table}.", True


def test_every_key_that_is_used_is_there_and_none_is_idle() -> None:
    named = set(uses())
    exact = {key for key, more in named if not more}
    prefixes = tuple(key for key, more in named if more)
    assert exact - set(ENGLISH) == set()
    assert [prefix for prefix in prefixes if not any(key.startswith(prefix) for key in ENGLISH)] == []
    assert [key for key in ENGLISH if key not in exact and not key.startswith(prefixes)] == []


def test_templates_hold_no_words_of_their_own() -> None:
    allowed = {"msprun", "sh", "source"}
    for file in TEMPLATES.glob("*.j2"):
        if not file.name.startswith("wrapper"):
            text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            assert set(LATIN.findall(text)) <= allowed, file.name


@pytest.mark.parametrize("key", sorted(set(CHINESE) - OLD_LABELS))
def test_chinese_text_holds_no_untranslated_word(key: str) -> None:
    for text in CHINESE[key]:
        bare = re.sub(r"\{\w+\}|`[^`]*`|\b[\w.]+=\S*", " ", text)
        for word in sorted(SAME_IN_CHINESE, key=len, reverse=True):
            bare = re.sub(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", " ", bare)
        assert not LATIN.search(bare), text


def planned(cwd: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A dry run in a process of its own with these variables beside PATH and HOME."""
    env = {name: os.environ[name] for name in ("PATH", "HOME")} | environ
    command = [sys.executable, "-m", "msprun", "op=add", "dry_run=true", *words]
    env["PYTHONPATH"] = str(data_root())
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=60, check=False)


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "environ", "lang", "source"),
    [
        (("lang=zh",), {"MSPRUN_LANG": "en"}, "zh", "cli"),
        (("mode=check",), {"LANG": "zh_CN.UTF-8"}, "zh", "env"),
        ((), {}, "en", "auto"),
    ],
)
def test_plan_knows_the_language_and_who_chose_it(
    own_world: Path, words: tuple[str, ...], environ: dict[str, str], lang: str, source: str
) -> None:
    plan = json.loads(planned(own_world, "print=json", *words, **environ).stdout)
    known = plan["provenance"]["lang"]
    assert (plan["lang"], known["value"], known["source"]) == (lang, lang, source)


@pytest.mark.process
def test_language_that_is_none_is_refused_in_one_line(own_world: Path) -> None:
    done = planned(own_world, "lang=atuo")
    assert done.returncode == 2 and "there is no lang=atuo; did you mean auto?" in done.stderr
    done = planned(own_world, MSPRUN_LANG="fr")
    assert done.returncode == 2 and "MSPRUN_LANG=fr is no language of msprun" in done.stderr


@pytest.mark.process
def test_terminal_without_chinese_gets_escapes_and_no_crash(own_world: Path) -> None:
    done = planned(own_world, "lang=zh", LC_ALL="C", LANG="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "\\u7b97\\u5b50 add" in done.stdout and done.stdout.isascii()
    done = planned(own_world, LANG="zh_CN.UTF-8", PYTHONIOENCODING="utf-8")
    assert "  算子 add" in done.stdout.splitlines()
