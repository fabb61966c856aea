"""Lost or varying: told by what is missing against the usual call."""

from __future__ import annotations

import numpy as np
import pytest

from msprun.account.judgement import Calls, judge

USUAL = (1, 2)
LESS, MORE, OTHER, NONE = (1, 1), (2, 2), (0, 3), (0, 0)


@pytest.mark.parametrize(
    ("calls", "verdict", "sound"),
    [
        ([USUAL] * 6, "exact", "111111"),
        ([USUAL] * 7 + [LESS], "lost_rows", "11111110"),
        ([LESS] + [USUAL] * 7, "lost_rows", "01111111"),
        # A quarter is still an accident, half is none.
        ([USUAL, USUAL, LESS, USUAL] * 2, "lost_rows", "11011101"),
        ([USUAL, LESS] * 4, "varying_kernels", "11111111"),
        # The head of a stream is gone: one call torn, those before it empty.
        ([NONE, NONE, NONE, LESS, USUAL, USUAL], "lost_rows", "000011"),
        ([USUAL, USUAL, LESS, NONE, NONE, NONE], "lost_rows", "110000"),
        ([USUAL, LESS, NONE, NONE, LESS, USUAL, USUAL], "lost_rows", "1000011"),
        # Every call of the second half lacks the same kernel: it was not needed any more.
        ([USUAL] * 4 + [LESS] * 3, "varying_kernels", "1111111"),
        ([USUAL, NONE] * 4, "varying_kernels", "10101010"),
        ([USUAL] * 5 + [MORE], "varying_kernels", "111111"),
        ([USUAL] * 5 + [OTHER], "varying_kernels", "111111"),
        ([NONE] * 4, "no_kernels", "0000"),
    ],
)
def test_calls_against_the_usual_one(calls: list[tuple[int, int]], verdict: str, sound: str) -> None:
    table = np.array(calls, dtype=np.int64)
    timed = np.ones(len(calls), dtype=bool)
    found = judge(Calls(table=table, is_timed=timed, is_cut=False, dropped=0))
    assert (found.verdict, "".join(str(int(one)) for one in found.is_sound)) == (verdict, sound)


@pytest.mark.parametrize(
    ("before", "timed", "verdict"),
    [
        # What is usual is said by the timed calls where there are enough of them.
        ([MORE] * 5, [USUAL] * 3, "exact"),
        ([MORE], [USUAL], "lost_rows"),
        ([USUAL, USUAL], [LESS], "lost_rows"),
        ([USUAL, USUAL], [MORE], "varying_kernels"),
        ([LESS, USUAL], [USUAL] * 3, "lost_rows"),
        ([USUAL, USUAL], [NONE], "no_kernels"),
    ],
)
def test_warm_up_calls_beside_timed_ones(
    before: list[tuple[int, int]], timed: list[tuple[int, int]], verdict: str
) -> None:
    table = np.array(before + timed, dtype=np.int64)
    is_timed = np.arange(len(table)) >= len(before)
    assert judge(Calls(table=table, is_timed=is_timed, is_cut=False, dropped=0)).verdict == verdict


def test_records_that_end_early_are_no_silence() -> None:
    table = np.array([USUAL, NONE, NONE], dtype=np.int64)
    found = judge(Calls(table=table, is_timed=np.array([False, True, True]), is_cut=True, dropped=0))
    assert (found.verdict, found.is_sound.tolist(), found.figures["lost_calls"]) == (
        "lost_rows",
        [True, False, False],
        2,
    )
