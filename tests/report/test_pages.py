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
NAMES = ("mixed", "all_good", "all_failed", "check_mode", "one_sided", "not_checked", "partial", "hostile")
# pytest_addoption only works in the root, and the environment of tests is emptied: read before that happens.
UPDATES = os.environ.get("MSPRUN_UPDATE_GOLDEN") == "1"
# What templates and the tests say themselves: "95 %".
WORDS_WITH_NUMBERS = {"95"}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["performance.log", "perf_report.md", "result.json"])
def test_page_is_as_it_was_reviewed(made: ModuleType, tmp_path: Path, name: str, file: str) -> None:
    write_pages(made.RESULTS[name](), made.samples(), PAGES, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    golden = GOLDEN / name / file
    if UPDATES:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_invented_result_has_its_pages(made: ModuleType) -> None:
    assert set(made.RESULTS) == set(NAMES) == {folder.name for folder in GOLDEN.iterdir()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["performance.log", "perf_report.md"])
def test_every_number_comes_from_the_result(made: ModuleType, name: str, file: str) -> None:
    result = made.RESULTS[name]()
    known = WORDS_WITH_NUMBERS | set(_forms(result)) | set(_counted(result))
    strange = [n for n in NUMBER.findall((GOLDEN / name / file).read_text(encoding="utf-8")) if n not in known]
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


@pytest.mark.parametrize("file", ["performance.log", "perf_report.md"])
def test_check_mode_has_no_word_of_speed(file: str) -> None:
    page = (GOLDEN / "check_mode" / file).read_text(encoding="utf-8").lower()
    assert "speedup" not in page and "faster" not in page and "(us)" not in page


def test_speedup_of_a_wrong_case_stays_hidden_even_where_the_row_has_one(made: ModuleType, tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(made.FASTER, status="incorrect", correctness=made.INCORRECT.correctness)
    write_pages(made.result(wrong), (), PAGES[1:3], tmp_path)
    for page in tmp_path.iterdir():
        line = next(text for text in page.read_text(encoding="utf-8").splitlines() if "[64, 512]" in text)
        assert "4.000x" not in line and "3.987x" not in line and "faster" not in line


@pytest.mark.parametrize("file", ["performance.log", "perf_report.md", "result.json", "samples.csv"])
def test_no_page_holds_a_control_character(made: ModuleType, tmp_path: Path, file: str) -> None:
    write_pages(made.hostile(), made.samples(), PAGES, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert "\x1b" not in text
    if file != "result.json":
        assert "\x9b" not in text and "\u202e" not in text


def test_own_template_becomes_a_page(made: ModuleType, tmp_path: Path) -> None:
    assert write_pages(made.mixed(), (), [("mine", "perf_report.md.j2", "mine.md")], tmp_path) == (
        tmp_path / "mine.md",
    )


def test_page_that_nobody_makes_is_an_error_of_the_request(made: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="report=html"):
        write_pages(made.mixed(), (), [("html", None, "report.html")], tmp_path)


def test_unknown_codes_show_themselves_with_their_figures(made: ModuleType, tmp_path: Path) -> None:
    failure = made.Failure(stage="accounting", kind="cosmic_ray", message="bit 7 flipped")
    write_pages(made.result(made.row(0, "failed", failure=failure)), (), PAGES[1:2], tmp_path)
    assert "cosmic_ray: bit 7 flipped" in (tmp_path / "performance.log").read_text(encoding="utf-8")
