"""The table as plain text."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from msprun.report import write_pages


@pytest.fixture
def log(made: ModuleType, tmp_path: Path) -> Log:
    return Log(made, tmp_path)


class Log:
    """Makes the page of an invented result."""

    def __init__(self, made: ModuleType, folder: Path) -> None:
        self.made, self.folder = made, folder

    def lines(self, name: str) -> list[str]:
        page = ("log", "performance.log.j2", "performance.log")
        (file,) = write_pages(self.made.RESULTS[name](), (), [page], self.folder, "en")
        return file.read_text(encoding="utf-8").splitlines()


def test_row_of_a_measured_case(log: Log) -> None:
    row = next(line for line in log.lines("mixed") if line.startswith("1  "))
    assert row.split() == "1 [65, 512] float32 40.00 50.00 0.800x correct 0.803x 0.781 - 0.826 slower".split()


def test_row_without_a_number_ends_with_its_errors(log: Log) -> None:
    row = next(line for line in log.lines("mixed") if line.startswith("3  "))
    assert row.split("incorrect ")[0].split() == "3 [67, 512] float16 310.25 N/A N/A".split()
    assert row.endswith("(ref_err=None, asc_err=incorrect: MERE 0.25)")


def test_columns_keep_the_old_order(log: Log) -> None:
    heads = next(line for line in log.lines("mixed") if line.startswith("Case"))
    assert heads.split()[:6] == ["Case", "Shape", "dtype", "Ref(us)", "Asc(us)", "Speedup"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mixed", "Performance (clock.perf_counter_ns): toy_norm  (warmup=10, repeats=96, seed=7)"),
        ("mixed", "  Valid   : 3/6"),
        # (84.2 + 40 + 100.5 + 310.25 + 12.75) / 5 = 547.7 / 5; the third of the five is the median.
        ("mixed", "  Ref  mean/median/geomean/total : 109.54 / 84.20 / 66.89 / 547.70"),
        # Pairs only: (84.2 + 40 + 100.5) / (21.05 + 50 + 99.25) = 224.7 / 170.3.
        ("mixed", "  Total speedup (sum ref/sum asc) : 1.32x"),
        ("mixed", "  Min/Max : 0.80x / 4.00x"),
        ("mixed", "    log: sessions/1/stderr.log"),
        ("mixed", "    next: python wrapper.py case=4"),
        ("mixed", "Exit code: 1"),
        ("mixed", "[INFO] Total elapsed time: 74.512s"),
        ("all_failed", "0 of 2 cases correct, 2 failed; no speedup"),
        ("all_failed", "  Case 1: while importing the file, exception: ImportError: libtoy.so (ACL code 507033)"),
        ("all_failed", "  Case 0: reference while being timed, time limit reached: no answer within 60 s"),
        ("one_sided", "2 of 2 cases ran, not checked; 2 cases measured on one side only, so no speedup"),
    ],
)
def test_line(log: Log, name: str, line: str) -> None:
    assert line in log.lines(name)


def test_result_without_speedup_has_no_block_of_speedups(log: Log) -> None:
    assert not [line for line in log.lines("one_sided") if line.startswith(("--- Speedup", "  Asc ", "  Total"))]


def test_how_sure_says_what_these_cases_are_and_what_holds_among_all(log: Log, tmp_path: Path) -> None:
    result = log.made.RESULTS["all_good"]()
    counts = replace(result.counts, faster_family=2, slower_family=1)
    known = replace(result, counts=counts, geomean_noise_low=2.7, geomean_noise_high=2.9)
    page = ("log", "performance.log.j2", "performance.log")
    (file,) = write_pages(known, (), [page], tmp_path, "en")
    (line,) = [line for line in file.read_text().splitlines() if line.startswith("How sure")]
    assert "the geomean of these very cases lies within 2.700 - 2.900" in line
    assert "with all cases in view (Holm) 2 faster and 1 slower hold" in line
    assert not any("Holm" in line for line in log.lines("all_good"))  # a result from before


def test_partial_result_says_so_first(log: Log) -> None:
    assert log.lines("partial")[2].startswith(
        "Interrupted, partial result: 1 of 1 case correct, 2 not run; geomean 3.99x"
    )


def test_columns_line_up_with_chinese_labels(log: Log) -> None:
    lines = log.lines("hostile")
    ascii_row = next(line for line in lines if line.startswith("0  "))
    chinese = next(line for line in lines if line.startswith("1  "))
    # Each of the six characters takes two columns.
    assert ascii_row.index("84.20") == chinese.index("60.00") + 6


def test_rates_stand_in_a_table_of_their_own_under_the_old_one(log: Log) -> None:
    lines = log.lines("rates")
    at = lines.index("--- Rates of one call (share: floor over time) ---")
    assert lines[at - 1] == "-" * 100
    # 131072 bytes and 65536 operations in 84.2 and in 21.05 us, of which a chip needs 10.525.
    assert lines[at + 2].split() == "0 1.557 6.227 0.0007783 0.003113 10.53 L2 12.5 % 50.0 %".split()
    # 1e9 operations in 40 and in 50 us, of which a chip needs 2; bytes are not known.
    assert lines[at + 3].split() == "1 N/A N/A 25 20 2.00 compute 5.0 % 4.0 %".split()
    assert lines[at + 4] == "--- Remarks ---"  # nothing is known of case 2


def test_what_was_done_to_the_caches_is_a_line(log: Log) -> None:
    # 64 sets of 8 MiB in all for case 0, 2 of 512 MiB for case 1; 35127296 bytes are 33.5 MiB.
    assert (
        "Caches (rotate): calls walk over 2 to 64 sets of inputs, 8 to 512 MiB in all; last-level cache 33.5 MiB"
    ) in log.lines("rates")


def test_flushed_caches_of_an_unknown_size(log: Log, tmp_path: Path) -> None:
    flushed = log.made.CacheFacts(policy="flush", sets=1, bytes=64 << 20, llc_bytes=None)
    result = log.made.result(replace(log.made.FASTER, cache=flushed))
    (file,) = write_pages(result, (), [("log", "performance.log.j2", "performance.log")], tmp_path, "en")
    assert "Caches (flush): 64 MiB are read before each call; last-level cache not known" in file.read_text()


def test_columns_without_any_number_are_not_there(log: Log, tmp_path: Path) -> None:
    work = log.made.WorkFigures(bytes=2e6, reference_gb_s=2e6 / 84.2 / 1e3, candidate_gb_s=2e6 / 21.05 / 1e3)
    result = log.made.result(replace(log.made.FASTER, work=work))
    (file,) = write_pages(result, (), [("log", "performance.log.j2", "performance.log")], tmp_path, "en")
    lines = file.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("--- Rates"))
    assert lines[at + 1 : at + 3] == ["case  ref GB/s  cand GB/s", "   0     23.75      95.01"]


@pytest.mark.parametrize("name", ["mixed", "check_mode", "one_sided"])
def test_nothing_is_said_of_rates_and_caches_that_nobody_knows(log: Log, name: str) -> None:
    assert not [line for line in log.lines(name) if line.startswith(("--- Rates", "Caches"))]


def test_older_build_has_a_table_of_its_own(log: Log) -> None:
    lines = log.lines("against")
    start = lines.index("--- Against an older build ---")
    assert lines[start + 1] == (
        "Against the older build in /ops/toy_norm_v1: 3 of 4 cases correct, 1 incorrect, 1 failed; "
        "geomean 1.22x (1.00 - 1.50) over 2 cases: 1 faster, 1 the same"
    )
    rows = [line.split() for line in lines[start + 5 : start + 9]]
    assert rows[0] == "0 [64, 512] float16 31.50 21.05 1.496x correct 1.471 - 1.523 faster".split()
    assert rows[2] == "2 [66, 512] float16 N/A 20.00 N/A incorrect N/A N/A".split()
    assert rows[3] == "3 [67, 512] float16 N/A 10.00 N/A failed N/A N/A".split()
    assert "  Case 2: older build incorrect: the numbers differ by more than the rule allows" in "\n".join(lines)
    assert "--- Against an older build ---" not in log.lines("all_good")


def test_a_check_of_an_older_build_says_its_states(log: Log, tmp_path: Path) -> None:
    known = replace(log.made.against(), profiling_mode="check")
    page = ("log", "performance.log.j2", "performance.log")
    (file,) = write_pages(known, (), [page], tmp_path, "en")
    lines = file.read_text().splitlines()
    start = lines.index("--- Against an older build ---")
    assert lines[start + 1].endswith("3 of 4 cases correct, 1 incorrect, 1 failed")
    assert lines[start + 2].split() == ["Case", "Shape", "dtype", "State", "Rule"]
    assert lines[start + 6].split() == "2 [66, 512] float16 incorrect mere_mare".split()
