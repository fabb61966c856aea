"""The emulated torch_npu under the fake msprof: what is exported is what happened."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from tests.cann import Cann
from tests.fakes_cann.apps import rows

MARKED = Path(__file__).parent / "programs" / "marked.py"


def us(cell: str) -> Decimal:
    return Decimal(cell.strip())


@pytest.mark.torch
def test_markers_cut_the_kernels_of_each_call_out_of_an_export_that_equals_the_truth(tmp_path) -> None:
    cann = Cann(tmp_path)
    words = ["msprof", f"--output={tmp_path}", "--msproftx=on", "--ai-core=off", "--mstx-domain-include=msprun"]
    done = subprocess.run(
        [*words, sys.executable, str(MARKED)], env=cann.environ, capture_output=True, text=True, check=True
    )
    assert "marks answered" in done.stdout
    (output,) = tmp_path.glob("PROF_*/mindstudio_profiler_output")
    kernels = rows(next(output.glob("op_summary_*.csv")))
    marks = rows(next(output.glob("msprof_tx_*.csv")))
    truth = cann.truth("kernel")
    assert [us(row["Task Duration(us)"]) for row in kernels] == [
        Decimal(record["duration_ns"]) / 1000 for record in truth
    ]
    calls = [Counter(k["OP Type"] for k in kernels if within(k, mark)) for mark in marks]
    assert calls == [Counter({"SoftmaxV2": 1, "Add": n}) if n else Counter({"SoftmaxV2": 1}) for n in range(5)]
    tasks = Counter(row["kernel_type"] for row in rows(next(output.glob("task_time_*.csv"))))
    assert (tasks["PROFILER_TRACE_EX"], tasks["MEMCPY_ASYNC"]) == (10, len(cann.truth("copy")))


def within(kernel: dict[str, str], mark: dict[str, str]) -> bool:
    """Whether a kernel ran between a marker's times on the device."""
    start = us(kernel["Task Start Time(us)"])
    return us(mark["Device Start_time(us)"]) <= start < us(mark["Device End_time(us)"])
