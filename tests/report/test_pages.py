"""Golden pages for invented results; MSPRUN_UPDATE_GOLDEN=1 writes them anew, and the diff is the review."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from msprun.errors import ConfigError
from msprun.report import write_pages

PAGES = (
    ("json", None, "result.json"),
    ("log", "performance.log.j2", "performance.log"),
    ("markdown", "perf_report.md.j2", "perf_report.md"),
    ("csv", None, "samples.csv"),
)
GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = (
    "mixed", "all_good", "all_failed", "check_mode", "one_sided", "not_checked", "partial", "hostile", "rates",
    "against", "npu",
)  # fmt: skip
# pytest_addoption only works in the root, and the environment of tests is emptied: read before that happens.
UPDATES = os.environ.get("MSPRUN_UPDATE_GOLDEN") == "1"
# What templates say themselves: "95 %", "budget_s=10".
WORDS_WITH_NUMBERS = {"95", "10"}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


TEXTS = ("performance.log", "perf_report.md")
LANGUAGES = ("en", "zh")


def golden(name: str, file: str, lang: str) -> Path:
    """English pages lie beside the result, Chinese ones in a folder of their own."""
    return GOLDEN / name / ("" if lang == "en" else lang) / file


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("file", "lang"), [*((f, la) for la in LANGUAGES for f in TEXTS), ("result.json", "en")])
def test_page_is_as_it_was_reviewed(made: ModuleType, tmp_path: Path, name: str, file: str, lang: str) -> None:
    write_pages(made.RESULTS[name](), made.samples(), PAGES, tmp_path, lang)
    text = (tmp_path / file).read_text(encoding="utf-8")
    reviewed = golden(name, file, lang)
    if UPDATES:
        reviewed.parent.mkdir(parents=True, exist_ok=True)
        reviewed.write_text(text, encoding="utf-8")
    assert text == reviewed.read_text(encoding="utf-8")


def test_result_for_programs_is_the_same_in_every_language(made: ModuleType, tmp_path: Path) -> None:
    written = []
    for lang in LANGUAGES:
        (page,) = write_pages(made.mixed(), (), PAGES[:1], tmp_path, lang)
        written.append(page.read_bytes())
    assert written[0] == written[1]


def test_every_invented_result_has_its_pages(made: ModuleType) -> None:
    assert set(made.RESULTS) == set(NAMES) == {folder.name for folder in GOLDEN.iterdir()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("file", TEXTS)
def test_every_number_comes_from_the_result(made: ModuleType, name: str, file: str, lang: str) -> None:
    result = made.RESULTS[name]()
    known = WORDS_WITH_NUMBERS | set(_forms(result)) | set(_counted(result)) | set(_converted(result))
    strange = [n for n in NUMBER.findall(golden(name, file, lang).read_text(encoding="utf-8")) if n not in known]
    assert strange == []


def _forms(value: Any) -> Iterator[str]:
    """Every number in a value as a page may round it, and every number inside a text of it."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield str(value)
    elif isinstance(value, float):
        yield from (f"{value:.1f}", f"{value:.2f}", f"{value:.3f}", f"{value:.4g}")
    elif isinstance(value, str):
        yield from NUMBER.findall(value)
        yield from NUMBER.findall(value.replace("\n", "\\n").replace("\x1b", "\\x1b").replace("\x9b", "\\u009b"))
        yield from re.findall(r"\d+", value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _forms(key)
            yield from _forms(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _forms(item)
    elif isinstance(value, msgspec.Struct):
        yield from _forms(msgspec.to_builtins(value))


def _counted(result: Any) -> Iterator[str]:
    """Numbers of things that a page counts."""
    rows = result.per_case
    for count in range(len(rows) + 1):
        for field in ("status", "stop"):
            values = [getattr(row, field) for row in rows]
            if count in {values.count(value) for value in values if value}:
                yield str(count)
    yield str(sum(row.correctness.state == "not_checked" for row in rows))


def _converted(result: Any) -> Iterator[str]:
    """Shares as percent, bytes as MiB."""
    for row in result.per_case:
        if row.work:
            shares = (row.work.reference_floor_share, row.work.candidate_floor_share)
            yield from (f"{100 * share:.1f}" for share in shares if share is not None)
        if row.cache:
            yield from (f"{of / 1048576:.4g}" for of in (row.cache.bytes, row.cache.llc_bytes) if of is not None)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("file", TEXTS)
def test_check_mode_has_no_word_of_speed(file: str, lang: str) -> None:
    page = golden("check_mode", file, lang).read_text(encoding="utf-8").lower()
    assert not [word for word in ("speedup", "faster", "(us)", "加速比", "更快") if word in page]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", TEXTS)
def test_both_languages_say_the_same_numbers(name: str, file: str) -> None:
    english, chinese = (golden(name, file, lang).read_text(encoding="utf-8") for lang in LANGUAGES)
    assert sorted(re.findall(r"\d+(?:\.\d+)?", english)) == sorted(re.findall(r"\d+(?:\.\d+)?", chinese))


def test_speedup_of_a_wrong_case_stays_hidden_even_where_the_row_has_one(made: ModuleType, tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(made.FASTER, status="incorrect", correctness=made.INCORRECT.correctness)
    write_pages(made.result(wrong), (), PAGES[1:3], tmp_path, "en")
    for page in tmp_path.iterdir():
        line = next(text for text in page.read_text(encoding="utf-8").splitlines() if "[64, 512]" in text)
        assert "4.000x" not in line and "3.987x" not in line and "faster" not in line


@pytest.mark.parametrize("file", ["performance.log", "perf_report.md", "result.json", "samples.csv"])
def test_no_page_holds_a_control_character(made: ModuleType, tmp_path: Path, file: str) -> None:
    write_pages(made.hostile(), made.samples(), PAGES, tmp_path, "en")
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert "\x1b" not in text
    if file != "result.json":
        assert "\x9b" not in text and "\u202e" not in text


def test_own_template_becomes_a_page(made: ModuleType, tmp_path: Path) -> None:
    assert write_pages(made.mixed(), (), [("mine", "perf_report.md.j2", "mine.md")], tmp_path, "en") == (
        tmp_path / "mine.md",
    )


def test_page_that_nobody_makes_is_an_error_of_the_request(made: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="report=html"):
        write_pages(made.mixed(), (), [("html", None, "report.html")], tmp_path, "en")


def test_unknown_codes_show_themselves_with_their_figures(made: ModuleType, tmp_path: Path) -> None:
    failure = made.Failure(stage="accounting", kind="cosmic_ray", message="bit 7 flipped")
    write_pages(made.result(made.row(0, "failed", failure=failure)), (), PAGES[1:2], tmp_path, "en")
    assert "cosmic_ray: bit 7 flipped" in (tmp_path / "performance.log").read_text(encoding="utf-8")
