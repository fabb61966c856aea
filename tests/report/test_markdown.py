"""The report for a pull request."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from msprun.report import write_pages


@pytest.fixture
def report(made: ModuleType, tmp_path: Path) -> Report:
    return Report(made, tmp_path)


class Report:
    """Makes the page of an invented result."""

    def __init__(self, made: ModuleType, folder: Path) -> None:
        self.made, self.folder = made, folder

    def text(self, name: str) -> str:
        page = ("markdown", "perf_report.md.j2", "perf_report.md")
        (file,) = write_pages(self.made.RESULTS[name](), (), [page], self.folder, "en")
        return file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mixed", "| 1 | [65, 512] | float32 | 50.00 | 40.00 | 0.800x | correct | 0.803x | 0.781 - 0.826 | slower |"),
        ("mixed", "| 3 | [67, 512] | float16 | – | 310.25 | – | incorrect | – | – | – |"),
        ("mixed", "| 5 | [0, 512] | float16 | – | – | – | skipped: empty tensor | – | – | – |"),
        # The cube root of 3.987 x 0.803 x 1.011, and of the ends of the three intervals.
        ("mixed", "| Geomean speedup (main figure) | 1.479x (1.437 - 1.522) |"),
        # (84.2 / 21.05 + 40 / 50 + 100.5 / 99.25) / 3 = (4 + 0.8 + 1.01259) / 3
        ("mixed", "| Mean speedup | 1.938x (arithmetic mean of 3 cases) |"),
        ("all_failed", "| Mean speedup | N/A (no case with a speedup) |"),
        ("mixed", "- **Operator**: toy_norm, `/ops/toy_norm`"),
        ("mixed", "- **Device**: cpu:0 (source=auto)"),
        ("mixed", "- **Exit code**: 1"),
        ("mixed", "- plugin_remark (load 3.5); next: ask the plug-in"),
        ("mixed", "| float16 | 1 | 4.000x | 1 | 0 | 4.000x |"),
        ("mixed", "msprun mode=quick op=/ops/toy_norm seed=7"),
        # Case 1 has the lowest speedup of those that have one.
        ("mixed", "msprun mode=quick op=/ops/toy_norm seed=7 warmup=auto repeats=auto cases=1 budget_s=10"),
        ("all_failed", "No case has a speedup to look into."),
        ("mixed", "Next: fix case 3 (incorrect), then check it again: mode=check cases=3"),
        ("not_checked", "- **Correctness**: not checked"),
        ("not_checked", "Next: compare outputs too: check=default"),
        ("one_sided", "**2 of 2 cases ran, not checked; 2 cases measured on one side only, so no speedup**"),
        ("check_mode", "| 1 | [65, 512] | float16 | incorrect | double_benchmark |"),
    ],
)
def test_line(report: Report, name: str, line: str) -> None:
    assert line in report.text(name).splitlines()


def test_candidate_stands_before_the_reference(report: Report) -> None:
    heads = next(line for line in report.text("mixed").splitlines() if line.startswith("| Case"))
    assert [head.strip() for head in heads.split("|")][4:7] == ["Candidate (us)", "Reference (us)", "Speedup"]


def test_sections_keep_their_order_and_wrong_comes_before_totals(report: Report) -> None:
    assert re.findall(r"^## (.*)", report.text("mixed"), re.MULTILINE) == [
        "Comparison", "Wrong results", "Failures", "Totals", "In short", "Bottleneck", "Remarks", "Environment",
        "Do it again",
    ]  # fmt: skip


def test_partial_result_says_so_first(report: Report) -> None:
    assert report.text("partial").splitlines()[2].startswith("> **This result is partial**:")


def test_table_keeps_its_columns_and_starts_no_element(report: Report) -> None:
    page = report.text("hostile")
    table = page.split("## Comparison")[1].split("##")[0].strip().splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {11}
    without_block = re.sub(r"```sh\n.*?```", "", page, flags=re.DOTALL).replace("\\`", "")
    outside_code = re.sub(r"(`+).*?(?<!`)\1(?!`)", "", without_block)
    assert "<script" not in outside_code


@pytest.mark.parametrize(
    "line",
    [
        "### Rates of a call (share: floor over time)",
        "| case | ref GB/s | cand GB/s | ref TFLOP/s | cand TFLOP/s | floor us | bound by | ref share | cand share |",
        # 131072 bytes and 65536 operations in 84.2 and in 21.05 us, of which a chip needs 10.525.
        "| 0 | 1.557 | 6.227 | 0.0007783 | 0.003113 | 10.53 | L2 | 12.5 % | 50.0 % |",
        # 1e9 operations in 40 and in 50 us, of which a chip needs 2.
        "| 1 | – | – | 25 | 20 | 2.00 | compute | 5.0 % | 4.0 % |",
        "- Caches (rotate): calls walk over 2 to 64 sets of inputs, 8 to 512 MiB in all; last-level cache 33.5 MiB",
    ],
)
def test_rates_and_caches(report: Report, line: str) -> None:
    assert line in report.text("rates").splitlines()
    assert line not in report.text("mixed").splitlines()
