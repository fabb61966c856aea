"""How verdicts are counted, and that the real part runs."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks import coverage, real
from benchmarks.coverage import Synthetic, on_stream, real_cells, synthetic_cells
from benchmarks.place import Place, this_msprun
from benchmarks.real import Verdict, by_figures, by_mean, by_spread
from benchmarks.streams import STREAMS, measured, schedule


def told(reference: float, candidate: float, iqr: float = 1.0, digits: int = 3) -> dict[str, dict[str, float]]:
    return {
        "reference": {"median": reference, "iqr": iqr, "digits": digits},
        "candidate": {"median": candidate, "iqr": 0.1, "digits": 4},
    }


def verdict(operator: str = "add", more: float = 0.0, us: float = 30.0, **words: str) -> Verdict:
    fields = {"msprun": "same", "figures": "same", "spread": "same", "mean": "same"} | words
    return Verdict(operator=operator, case=0, more=more, us=us, width=0.01, **fields)  # type: ignore[arg-type]


def test_compare_is_read_by_the_figures_that_both_sides_have() -> None:
    assert by_figures(told(123.4, 123.3)) == "same"
    assert by_figures(told(124.4, 123.3)) == "faster"
    assert by_figures(told(121.4, 123.3)) == "slower"
    assert by_figures(told(121.4, 123.3, digits=2)) == "same"


def test_compare_is_read_by_its_spread() -> None:
    assert by_spread(told(100, 100.9)) == "same"
    assert by_spread(told(102, 100.9)) == "faster"
    assert by_spread(told(90, 100.9, iqr=20)) == "same"


def test_a_mean_is_believed_beyond_three_percent() -> None:
    assert by_mean({"reference": 102.0, "candidate": 100.0}) == "same"
    assert by_mean({"reference": 104.0, "candidate": 100.0}) == "faster"
    assert by_mean({"reference": 96.0, "candidate": 100.0}) == "slower"


def test_cells_count_false_verdicts_found_ones_and_the_wrong_way() -> None:
    line = Synthetic(
        stream="noise", runs=200, identical={"same": 190, "faster": 3, "slower": 5, "unresolved": 2},
        faster={"faster": 180, "slower": 2, "unresolved": 18}, covered=(192, 188), groups=48.4, best=0.999,
    )  # fmt: skip
    assert synthetic_cells(line) == ("noise", "200", "48", "4.0 %", "95 %", "95.0 %", "90.0 %", "99.9 %", "1.0 %")


def test_more_work_is_counted_where_it_is_slower_and_cases_are_long_enough() -> None:
    found = [
        verdict(), verdict(msprun="faster", mean="slower"), verdict(us=5.0, figures="slower"),
        verdict(more=0.1, msprun="slower", mean="faster"), verdict(more=0.1, us=19.9, msprun="slower"),
    ]  # fmt: skip
    identical, more = list(real_cells(found))[:2]
    assert identical == ("add", "identical", "3", "1.0 %", "1 (2 same)", "1", "0", "1")
    assert more == ("add", "10% more", "1", "1.0 %", "1", "0", "0", "0")


def test_a_stream_is_counted_whole() -> None:
    seen = on_stream(STREAMS[0], 5)
    assert (sum(seen.identical.values()), sum(seen.faster.values()), seen.runs) == (5, 5, 5)
    assert (seen.identical, seen.faster, seen.best) == ({"same": 5}, {"faster": 5}, 1.0)
    assert on_stream(STREAMS[-1], 2).best is None


def test_a_synthetic_run_keeps_to_the_schedule_of_conf() -> None:
    plan = schedule()
    pair, samples = measured(random.Random(1), STREAMS[2], 1.0, plan)
    assert {sample.visit for sample in samples} == set(range(plan.visits))
    assert pair.quads <= plan.quads_max + plan.quads_min


def test_everything_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "HERE", tmp_path)
    monkeypatch.setattr(coverage, "STREAMS", STREAMS[:1])
    monkeypatch.setattr(coverage, "RUNS_QUICK", 3)
    assert coverage.main(["--quick", "--part", "synthetic"]) == 0
    assert "noise of 0.5 %" in capsys.readouterr().out
    (file,) = (tmp_path / "results").iterdir()
    assert msgspec.json.decode(file.read_bytes())["synthetic"][0]["runs"] == 3


@pytest.mark.torch
def test_ten_percent_more_work_is_found_in_a_real_operator(tmp_path: Path) -> None:
    place = Place(tmp_path / "place", (sys.executable,), this_msprun())
    shutil.copytree(real.data_root() / "examples" / "softmax", place.folder / "softmax")
    (place.folder / "softmax" / "slower.py").write_text(real.SLOWER)
    found = list(real.verdicts(place, "softmax", real.MORE, 0))
    assert [v.case for v in found] == list(range(7))  # the eighth is empty
    assert sum(v.msprun == "slower" for v in found) >= 6
