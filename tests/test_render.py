"""Templates and the filters that they use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msprun import render as door
from msprun.language import Words
from msprun.render import (
    cell,
    cells,
    code,
    columns,
    elapsed,
    figures,
    fit,
    interval,
    macro,
    number,
    pad,
    percent,
    plain,
    ratio,
    shell,
    width,
)


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(door, "data_folder", lambda name: tmp_path)
    return tmp_path


def test_template_gets_its_values(templates: Path) -> None:
    (templates / "a.j2").write_text("{% if yes %}\n{{ n | us }} us\n{% endif %}\n")
    assert door.render("a.j2", yes=True, n=1.5) == "1.50 us\n"


@pytest.fixture
def kept(templates: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled templates, for a template `a.j2` that says how often it was compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(templates / "cache"))
    door._environment.cache_clear()
    (templates / "a.j2").write_text("{{ text }}")
    return templates / "cache" / "msprun" / "templates"


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is compiled from now on, in an environment as a new process has it."""
    door._environment.cache_clear()
    seen: list[object] = []
    original = jinja2.Environment.compile
    monkeypatch.setattr(
        jinja2.Environment, "compile", lambda self, source, *more: seen.append(source) or original(self, source, *more)
    )
    return seen


def test_a_template_is_compiled_once_for_all_runs(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert door.render("a.j2", text="first") == "first"
    assert kept.stat().st_mode & 0o777 == 0o700
    seen = compilations(monkeypatch)
    assert door.render("a.j2", text="second") == "second"
    assert seen == []


def test_a_template_that_changed_is_compiled_again(
    kept: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.render("a.j2", text="first")
    (templates / "a.j2").write_text("new {{ text }}")
    seen = compilations(monkeypatch)
    assert door.render("a.j2", text="second") == "new second"
    assert len(seen) == 1


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_what_others_could_have_written_is_not_run(kept: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    door.render("a.j2", text="first")
    kept.chmod(mode)
    seen = compilations(monkeypatch)
    assert door.render("a.j2", text="second") == "second"
    assert len(seen) == 1


def test_a_cut_or_foreign_file_of_the_cache_is_passed_over(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    door.render("a.j2", text="first")
    (file,) = kept.iterdir()
    for content in (file.read_bytes()[:60], b"", b"not bytecode"):
        file.write_bytes(content)
        compilations(monkeypatch)
        assert door.render("a.j2", text="second") == "second"


def test_without_a_home_templates_are_compiled_each_time(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(templates / "a.j2" / "cache"))  # below a file
    (templates / "a.j2").write_text("{{ text }}")
    door._environment.cache_clear()
    assert door.render("a.j2", text="here") == "here"


def test_unknown_name_is_an_error(templates: Path) -> None:
    (templates / "a.j2").write_text("{{ nothing }}")
    with pytest.raises(jinja2.UndefinedError, match="nothing"):
        door.render("a.j2")


@pytest.mark.parametrize(("name", "shown"), [("a.html.j2", "&lt;b&gt;"), ("a.html", "&lt;b&gt;"), ("a.md.j2", "<b>")])
def test_only_html_is_escaped_by_itself(templates: Path, name: str, shown: str) -> None:
    (templates / name).write_text("{{ text }}")
    assert door.render(name, text="<b>") == shown


def test_macro_of_a_template(templates: Path) -> None:
    (templates / "a.j2").write_text("{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}")
    assert macro("a.j2", "twice", 3) == "33"


def test_every_template_that_travels_can_be_read() -> None:
    folder = door.data_folder("templates")
    names = [file.name for file in folder.iterdir() if file.suffix == ".j2" and not file.name.startswith("wrapper")]
    environment = door._environment(folder, "en")
    assert {"words.j2", "performance.log.j2", "perf_report.md.j2", "console.j2", "plan.txt.j2"} <= set(names)
    for name in names:
        environment.get_template(name)


@pytest.mark.process
def test_jinja_is_not_imported_before_a_page_is_made() -> None:
    words = "import sys, msprun.report.console as c; print('jinja2' in sys.modules, 'rich' in sys.modules)"
    root = str(Path(door.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_numbers() -> None:
    assert (number(84.2), number(None), number(1.23456, 3)) == ("84.20", "–", "1.235")
    assert number(None, missing="N/A") == "N/A"
    assert (ratio(4.0), ratio(None), ratio(1.4249, 2)) == ("4.000x", "–", "1.42x")
    assert (percent(0.0631), percent(None), percent(1.0, 0)) == ("6.3 %", "–", "100 %")
    assert (interval(1.37, 1.48), interval(1.3, None)) == ("1.37 - 1.48", "–")
    assert interval(1.3712, 1.48, 3) == "1.371 - 1.480"


def test_figures_of_every_kind_on_one_line() -> None:
    shown = figures(
        {
            "a": 0.123456,
            "n": 12,
            "ok": True,
            "none": None,
            "at": [1, 2],
            "of": {"x": "y\nz"},
            "big": 123456.0,
            "huge": 1234567.0,
        },
        Words("en"),
    )
    assert shown == "a 0.1235, n 12, ok yes, none –, at 1 2, of (x y\\nz), big 123456, huge 1.235e+06"


def test_figures_speak_the_language_and_leave_what_they_do_not_know() -> None:
    shown = figures({"side": "reference", "change": 0.5, "load": True, "of": {"samples": 3}}, Words("zh"))
    assert shown == "所属 标杆，变化 0.5，load 是，of （样本数 3）"


@pytest.mark.parametrize(("seconds", "shown"), [(74.512, "74.512s"), (1.0, "1.000s"), (0.5124, "512ms"), (0.0, "0ms")])
def test_duration_is_said_as_the_old_script_did(seconds: float, shown: str) -> None:
    assert elapsed(seconds) == shown


def test_template_has_the_words_of_its_language(templates: Path) -> None:
    (templates / "strings").mkdir()
    for lang, text in (("en", "Hello {name}"), ("zh", "你好，{name}")):
        (templates / "strings" / f"{lang}.json").write_text(f'{{"hello": "{text}", "fruit": {{"plum": "{lang}"}}}}')
    (templates / "a.j2").write_text('{{ t("hello", name=name) }} {{ word("fruit", "plum") }} {{ word("fruit", odd) }}')
    assert door.render("a.j2", "zh", name="{name}", odd="a\x1bb") == "你好，{name} zh a\\x1bb"
    assert door.render("a.j2", name="you", odd="x") == "Hello you en x"
    (templates / "b.j2").write_text("{% macro said() %}{{ word('fruit', 'plum') }}{% endmacro %}")
    assert (macro("b.j2", "said"), macro("b.j2", "said", lang="zh")) == ("en", "zh")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\x1b[31m", "\\x1b[31m"), ("\x9b2J", "\\u009b2J"), ("\u202eabc", "\\u202eabc"),
        ("\udcff", "\\udcff"), ("算子 é", "算子 é"), ("", ""),
    ],
)  # fmt: skip
def test_plain_text_moves_no_cursor(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_width_counts_columns_of_a_terminal() -> None:
    assert (width("abc"), width("算子"), width("e\u0301"), width("ｆ")) == (3, 4, 1, 2)


@pytest.mark.parametrize(
    ("text", "columns_", "shown"),
    [
        ("short", 10, "short"), ("abcdefghijklmnop", 12, "abcdef...nop"), ("算子性能测试算子", 12, "算子性...子"),
        ("[64, 512] + [64, 512] + [64, 128]", 20, "[64, 512] + ... 128]"), ("[1234567890, 1234567890]", 12, "[...]"),
    ],
)  # fmt: skip
def test_cut_keeps_both_ends_and_no_half_number(text: str, columns_: int, shown: str) -> None:
    assert fit(text, columns_) == shown


@given(text=st.text(), limit=st.integers(min_value=3, max_value=60))
def test_cut_text_fits(text: str, limit: int) -> None:
    assert width(fit(text, limit)) <= limit


def test_padding_counts_chinese_twice() -> None:
    assert (pad("算", 4), pad("算", 4, ">"), pad("long", 2)) == ("算  ", "  算", "long")


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    text = "case\tshape\tus\n----\n0\t[1]\t84.20\n1\t算子\t1.00\tmore text\n"
    assert columns(text, "<<>").splitlines() == [
        "case  shape     us", "----", "0     [1]    84.20", "1     算子    1.00  more text"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"), ("a\nb", "a\\\\nb"), ("<script>", "&lt;script>"), ("`x` **b**", "\\`x\\` \\*\\*b\\*\\*"),
        ("[l](javascript:0)", "[l]\\(javascript:0)"), ("__init__", "\\_\\_init\\_\\_"), ("[64, 512]", "[64, 512]"),
    ],
)  # fmt: skip
def test_cell_shows_its_text_as_it_is(text: str, shown: str) -> None:
    assert cell(text) == shown


def test_cells_make_a_line_of_a_table() -> None:
    assert cells([1, "a|b", "–"]) == "| 1 | a\\|b | – |"


@pytest.mark.parametrize(("text", "shown"), [("/a b", "`/a b`"), ("a`b", "`` a`b ``"), ("a```b", "```` a```b ````")])
def test_code_cannot_be_left(text: str, shown: str) -> None:
    assert code(text) == shown


def test_shell_words_can_be_pasted() -> None:
    assert shell(["msprun", "op=a b", "seed=1"]) == "msprun 'op=a b' seed=1"
    assert shell(["it's\n\\"]) == "$'it\\'s\\n\\\\'"
