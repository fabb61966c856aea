"""What the pages and the console say in Chinese: the old script's labels, nothing untranslated, aligned columns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from msprun.render import cell, plain, width
from msprun.report import write_pages
from msprun.report.console import Console

NAMES = ("mixed", "all_good", "all_failed", "check_mode", "one_sided", "not_checked", "partial", "hostile", "rates")
PAGES = (("log", "performance.log.j2", "performance.log"), ("markdown", "perf_report.md.j2", "perf_report.md"))
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d)(?:;\d+)*m")
# Labels of the old script (and N/A, its word for a missing number), typed from its description.
OLD_WORDS = (
    "Kernel-level Performance", "Case", "Shape", "DType", "dtype", "Ref", "Asc", "Speedup", "Geomean", "Mean", "Median",
    "Min/Max", "Valid", "Task Duration", "mean/median/geomean/total", "Total speedup", "Σref/Σasc", "INFO", "None",
    "Total elapsed time", "ref_err", "asc_err", "Operator", "Device", "Warmup", "Repeats", "Seed", "Timing method",
    "source", "N/A",
)  # fmt: skip
# Names that have no other in Chinese, codes of rules, files and programs.
SAME = (
    "us", "GB/s", "TFLOP/s", "MiB", "msprun", "torch", "Python", "MERE", "ACL", "double_benchmark", "mere_mare", "auto",
    "cpu", "clock", "quick", "rotate",
    "check", "float16", "float32", "bfloat16", "load", "output",
    "device", "warmup", "standard", "json", "performance.json", "performance.log", "perf_report.md",
)  # fmt: skip
NO_SPACE = OSError(28, "no space")
CODES = {"reference", "candidate", "interleaved", "sequential", "check+timing", "config"}
LATIN = re.compile(r"[A-Za-z]{2,}")


class Chinese:
    """Makes what a reader sees of an invented result, in Chinese unless told otherwise."""

    def __init__(self, made: ModuleType, plans: ModuleType, folder: Path) -> None:
        self.made, self.plans, self.folder = made, plans, folder

    def page(self, name: str, file: str) -> str:
        write_pages(self.made.RESULTS[name](), (), PAGES, self.folder, "zh")
        return (self.folder / file).read_text(encoding="utf-8")

    def play(self, name: str, out: Any, lang: str = "zh", err: Any = None) -> None:
        result = self.made.RESULTS[name]()
        with Console("text" if err is None else "json", out, err or io.StringIO(), lang) as console:
            console.start(self.plans.plan(result))
            for row in result.per_case:
                console.update(row)
            console.unwritten(NO_SPACE)
            console.finish(result, Path("/runs/one"))

    def console(self, name: str) -> str:
        out = io.StringIO()
        self.play(name, out)
        return out.getvalue()

    def outline(self, name: str) -> str:
        out = io.StringIO()
        Console("text", out, io.StringIO(), "zh").plan(self.plans.plan(self.made.RESULTS[name]()))
        return out.getvalue()


@pytest.fixture
def chinese(made: ModuleType, plans: ModuleType, tmp_path: Path) -> Chinese:
    return Chinese(made, plans, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "=" * 100,
        "-" * 100,
        "Kernel-level Performance (clock.perf_counter_ns): toy_norm  (warmup=10, repeats=96, seed=7)",
        "--- Speedup ---",
        "  Geomean : 1.48x  ← 主指标，95 % 置信区间 1.44 - 1.52",
        "  Mean    : 1.94x",
        "  Median  : 1.01x",
        "  Min/Max : 0.80x / 4.00x",
        "  Valid   : 3/6",
        "--- Task Duration (us) ---",
        "  Ref  mean/median/geomean/total : 109.54 / 84.20 / 66.89 / 547.70",
        "  Asc  mean/median/geomean/total : 56.77 / 50.00 / 47.10 / 170.30",
        "  Total speedup (Σref/Σasc) : 1.32x",
        "[INFO] Total elapsed time: 74.512s",
    ],
)
def test_log_has_each_label_of_the_old_script(chinese: Chinese, line: str) -> None:
    assert line in chinese.page("mixed", "performance.log").splitlines()


def test_log_ends_with_the_elapsed_time_and_has_the_old_columns_first(chinese: Chinese) -> None:
    lines = chinese.page("mixed", "performance.log").splitlines()
    assert lines[-1] == "[INFO] Total elapsed time: 74.512s"
    heads = next(line for line in lines if line.startswith("Case"))
    assert heads.split()[:6] == ["Case", "Shape", "dtype", "Ref(us)", "Asc(us)", "Speedup"]
    row = next(line for line in lines if line.startswith("0 "))
    assert row.split()[:7] == ["0", "[64,", "512]", "float16", "84.20", "21.05", "4.000x"]
    wrong = next(line for line in lines if line.startswith("3 "))
    assert wrong.endswith("(ref_err=None, asc_err=incorrect: MERE 0.25)") and wrong.split()[5:7] == ["N/A", "N/A"]


@pytest.mark.parametrize(
    "line",
    [
        "# 性能评估结果",
        "- **Operator**: toy_norm, `/ops/toy_norm`",
        "- **Device**: cpu:0 (source=auto)",
        "- **Warmup**: 10",
        "- **Repeats**: 96",
        "- **Seed**: 7",
        "- **Timing method**: `clock.perf_counter_ns`",
        "## 性能对比",
        "## 全量汇总",
        "| 指标 | 值 |",
        "| 用例数 | 6 |",
        "| 平均加速比 | 1.938x（3 个用例的算术平均） |",
        "| 标杆几何平均耗时 (us) | 66.89 |",
        "| 自定义算子几何平均耗时 (us) | 47.10 |",
        "| 自定义算子更优 | 1 |",
        "| 标杆更优 | 1 |",
        "### 按数据类型汇总",
        "| bfloat16 | 1 | 1.013x | 0 | 0 | 1.013x |",
        "## 简短分析",
        "## 深度瓶颈分析",
    ],
)
def test_report_has_each_label_of_the_old_script(chinese: Chinese, line: str) -> None:
    assert line in chinese.page("mixed", "perf_report.md").splitlines()


@pytest.mark.parametrize(
    ("first", "heads"),
    [
        ("| Case", ["Case", "Shape", "DType", "自定义算子(us)", "标杆(us)", "加速比"]),
        ("| DType", ["DType", "用例数", "平均加速比", "自定义算子更优", "标杆更优"]),
    ],
)
def test_columns_of_the_old_report_come_first_and_in_order(chinese: Chinese, first: str, heads: list[str]) -> None:
    line = next(line for line in chinese.page("mixed", "perf_report.md").splitlines() if line.startswith(first))
    assert [head.strip() for head in line.split("|")][1 : len(heads) + 1] == heads


def test_rows_of_totals_keep_their_order_and_each_label_is_found_once(chinese: Chinese) -> None:
    totals = chinese.page("mixed", "perf_report.md").split("## 全量汇总")[1].split("###")[0]
    labels = [line.split("|")[1].strip() for line in totals.splitlines() if line.startswith("|")][2:]
    old = ["用例数", "平均加速比", "标杆几何平均耗时 (us)", "自定义算子几何平均耗时 (us)", "自定义算子更优", "标杆更优"]
    assert labels[:6] == old
    assert [[label for label in labels if word in label] for word in old] == [[word] for word in old]


def test_missing_numbers_are_called_as_the_old_script_did(chinese: Chinese) -> None:
    page = chinese.page("all_failed", "perf_report.md")
    assert "| 平均加速比 | N/A（没有得出加速比的用例） |" in page and "–" not in page


def test_old_sections_keep_their_order(chinese: Chinese) -> None:
    heads = re.findall(r"^#+ (.*)", chinese.page("mixed", "perf_report.md"), re.MULTILINE)
    old = ["性能评估结果", "性能对比", "全量汇总", "按数据类型汇总", "简短分析", "深度瓶颈分析"]
    assert [head for head in heads if head in old] == old


def free_texts(value: Any, key: str = "") -> Iterator[str]:
    """What users, machines and plug-ins wrote into a result; the codes of msprun are no such text."""
    codes = {"status", "state", "stage", "kind", "verdict", "stop", "skipped", "rule", "side", "profiling_mode"}
    if isinstance(value, str) and key not in codes and not key.endswith("_error"):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from free_texts(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from free_texts(item, key)


def untranslated(text: str, *sources: Any) -> list[str]:
    """The Latin words of a page that neither its result or plan nor the lists above account for."""
    known = {word for source in sources for word in free_texts(msgspec.to_builtins(source, enc_hook=str))} - CODES
    known |= {plain(word) for word in known} | {cell(word) for word in known}
    bare = re.sub(r"\(ref_err=.*", " ", text)
    for word in sorted(known | {"plugin_remark", "load", str(NO_SPACE)}, key=len, reverse=True):
        bare = bare.replace(word, " ") if len(word) > 4 else bare
    bare = re.sub(r"```sh\n.*?```|`[^`\n]*`|\b[\w.]+=\S*", " ", bare, flags=re.DOTALL)
    for word in sorted((*OLD_WORDS, *SAME), key=len, reverse=True):
        bare = re.sub(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", " ", bare)
    return LATIN.findall(bare)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hostile"])
@pytest.mark.parametrize("what", ["performance.log", "perf_report.md", "console", "outline"])
def test_nothing_is_left_untranslated(chinese: Chinese, name: str, what: str) -> None:
    result = chinese.made.RESULTS[name]()
    text = getattr(chinese, what)(name) if what in ("console", "outline") else chinese.page(name, what)
    assert untranslated(text, result, chinese.plans.plan(result)) == []


def test_untranslated_word_is_found(chinese: Chinese) -> None:
    page = chinese.page("mixed", "perf_report.md") + "\nunresolved"
    assert untranslated(page, chinese.made.mixed()) == ["unresolved"]


@pytest.mark.parametrize("name", ["mixed", "all_good", "hostile"])
def test_log_columns_align_with_chinese_words(chinese: Chinese, name: str) -> None:
    lines = chinese.page(name, "performance.log").splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("Case"))
    rows = [line for line in lines[head + 2 :] if re.match(r"\d", line) and "x" in line and "ref_err" not in line]
    measured = [line for line in rows if line.endswith(("更快", "更慢", "未判定"))]
    assert measured and {width(line) for line in measured} == {width(lines[head])}
    # Of the right-aligned columns the ends meet: Speedup, then the interval behind the Chinese states.
    for line in measured:
        shown = re.search(r"(\d\.\d{3}x).*?\d\.\d{3} - \d\.\d{3}", line)
        assert shown
        assert width(line[: shown.end(1)]) == width(lines[head].split("Speedup")[0] + "Speedup")
        assert width(line[: shown.end()]) == width(lines[head].split("置信区间")[0] + "置信区间")


def test_console_columns_align_with_chinese_words(chinese: Chinese) -> None:
    lines = chinese.console("mixed").splitlines()[1:8]
    assert len({width(line) for line in lines}) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", ["80", "140"])
def test_chinese_table_fits_the_terminal(
    chinese: Chinese, tty: Any, monkeypatch: pytest.MonkeyPatch, name: str, size: str
) -> None:
    monkeypatch.setenv("COLUMNS", size)
    chinese.play(name, tty)
    shown = ANSI.sub("", tty.getvalue()).split("\n\n")[0].replace("\r", "\n").splitlines()
    table = [line for line in shown if "float16" in line or "─" in line]
    assert table and max(map(width, table)) <= int(size)


def test_colours_follow_the_codes_and_not_the_words(chinese: Chinese, tty: Any) -> None:
    english = type(tty)()
    chinese.play("mixed", tty)
    chinese.play("mixed", english, "en")
    assert COLOUR.findall(tty.getvalue()) == COLOUR.findall(english.getvalue()) != []


@pytest.mark.parametrize("name", NAMES)
def test_stream_without_chinese_gets_escapes(chinese: Chinese, name: str) -> None:
    raw = io.BytesIO()
    chinese.play(name, file := io.TextIOWrapper(raw, encoding="ascii"))
    file.flush()
    assert b"\\u7528\\u4f8b" in raw.getvalue() and raw.getvalue().isascii()


@pytest.mark.parametrize("name", NAMES)
def test_object_for_programs_is_the_same_in_every_language(chinese: Chinese, name: str) -> None:
    said = {}
    for lang in ("en", "zh"):
        out, err = io.StringIO(), io.StringIO()
        chinese.play(name, out, lang, err)
        said[lang] = out.getvalue()
        assert ("用例" in err.getvalue()) == (lang == "zh") or name == "hostile"
    assert said["en"] == said["zh"]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("performance.log", "--- 单次调用的速率（达成率：下限除以耗时） ---"),
        ("performance.log", "缓存（`rotate`）：各次调用轮流使用 2 至 64 组输入，共 8 至 512 MiB；末级缓存 33.5 MiB"),
        ("perf_report.md", "| 0 | 1.557 | 6.227 | 0.0007783 | 0.003113 | 10.53 | L2 | 12.5 % | 50.0 % |"),
        ("perf_report.md", "| 1 | N/A | N/A | 25 | 20 | 2.00 | 计算 | 5.0 % | 4.0 % |"),
    ],
)
def test_rates_and_caches(chinese: Chinese, file: str, line: str) -> None:
    assert line in chinese.page("rates", file).splitlines()
