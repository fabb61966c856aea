"""Calls that are not alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest

from benchmarks.streams import STREAMS, Stream, measured, schedule
from msprun.model.measurement import FreshCall, Sample
from msprun.model.operator import SIDES
from msprun.stat import order
from msprun.stat.likeness import (
    is_doubtful,
    uneven_by_change,
    uneven_by_contents,
    uneven_by_neighbour,
    uneven_by_period,
)

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]


def calls(make: Make, times: list[float], warmup: int = 0) -> list[Sample]:
    warm = [make("candidate", 50, phase="warmup") for _ in range(warmup)]
    return warm + [make("candidate", us, i // 2) for i, us in enumerate(times)]


@pytest.mark.parametrize("period", [2, 3, 5, 8])
@pytest.mark.parametrize("warmup", [0, 7])
def test_every_nth_call_that_works_while_the_others_replay_is_told(period: int, warmup: int, sample: Make) -> None:
    """tensara/tensara#238: results are kept and replayed."""
    rng = random.Random(period)
    work = [(100 if i % period == 0 else 20) * exp(rng.gauss(0, 0.05)) for i in range(160)]
    seen = uneven_by_period(calls(sample, work, warmup), "candidate")
    assert seen is not None
    assert (seen.code, seen.figures["side"], seen.figures["period"]) == ("uneven_calls", "candidate", period)
    assert seen.figures["ratio"] == pytest.approx(5, rel=0.1)


def test_places_that_differ_as_warm_caches_do_are_alike(sample: Make) -> None:
    assert uneven_by_period(calls(sample, [128, 100] * 60), "candidate") is None
    assert uneven_by_period(calls(sample, [100, 20] * 6), "candidate") is None  # too few to tell


def test_blocks_whose_calls_are_a_multiple_of_the_period_average_it_out(sample: Make) -> None:
    blocks = [sample("candidate", 60, i, calls=4) for i in range(60)]
    assert uneven_by_period(blocks, "candidate") is None


def quads(make: Make, cost: Callable[[str, str | None], float], count: int = 60) -> list[Sample]:
    """Blocks in the order of a run; `cost` knows the side and the side before."""
    rng, before, made = random.Random(3), None, []
    for group in range(count):
        for side in order.quad(SIDES, rng, "interleaved"):
            made.append(make(side, cost(side, before) * exp(rng.gauss(0, 0.05)), group))
            before = side
    return made


def test_a_candidate_that_is_fast_only_after_itself_is_told(sample: Make) -> None:
    seen = uneven_by_neighbour(quads(sample, lambda s, b: 20 if s == b == "candidate" else 100), "candidate")
    assert seen is not None and seen.figures["after_itself"] == pytest.approx(0.2, rel=0.1)
    warm = quads(sample, lambda s, b: 80 if s == b else 100)
    assert uneven_by_neighbour(warm, "candidate") is None
    assert uneven_by_neighbour(warm, "reference") is None


def test_a_candidate_that_stops_working_after_a_while_is_told(groups: Groups) -> None:
    """gpu-mode/pygpubench#7: warm-up is noticed, and less is done from then on."""
    seen = uneven_by_change(groups([100.0] * 60, [100.0] * 20 + [10.0] * 40))
    assert seen is not None
    assert (seen.code, seen.figures["change"], seen.figures["samples"]) == ("uneven_calls", pytest.approx(9), 60)
    both = [100.0] * 20 + [40.0] * 40
    assert uneven_by_change(groups(both, both)) is None  # the machine did that


@pytest.mark.parametrize("stream", STREAMS, ids=[stream.name for stream in STREAMS])
def test_no_noise_is_uneven(stream: Stream) -> None:
    rng, plan = random.Random(6), schedule()
    for _ in range(3):
        samples = measured(rng, stream, 1.3, plan)[1]
        assert uneven_by_change(samples) is None
        for side in SIDES:
            assert uneven_by_period([s for s in samples if s.side == side], side) is None
            assert uneven_by_neighbour(samples, side) is None


def looks(*pairs: tuple[float, float]) -> list[FreshCall]:
    return [FreshCall(fresh_us=fresh, again_us=again) for fresh, again in pairs]


FIRST = (1000.0, 10.0)


def test_ten_of_eleven_looks_after_the_first_that_say_so_are_an_uneven_side() -> None:
    """gpu-mode/kernelbot#501: quick on inputs that were seen before, and on no others."""
    mine = looks(FIRST, *[(90, 50)] * 5, (80, 50), (85, 40), (77, 50), (76, 50), (76, 50), (50, 900))
    seen = uneven_by_contents(mine, looks((60, 50), *[(60, 50)] * 10, (900, 50)), "candidate")
    assert seen is not None and seen.code == "uneven_calls"
    assert seen.figures == {"side": "candidate", "fresh_us": 85, "again_us": 50}


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ([FIRST], []),  # a doubt, no proof
        ([FIRST, *[(90, 50)] * 10], []),  # too few
        ([FIRST, *[(90, 50)] * 9, *[(74, 50)] * 2], []),  # less than half as long again, twice
        ([FIRST, *[(90, 50)] * 11], [(50, 50), *[(50, 50)] * 9, *[(91, 50)] * 2]),  # the contents, or the machine
        ([FIRST, *[(90, 50)] * 9, *[(0, 50)] * 2], []),  # the clock saw nothing
        ([], []),
    ],
)
def test_less_than_that_is_no_remark(mine: list[tuple[float, float]], other: list[tuple[float, float]]) -> None:
    assert uneven_by_contents(looks(*mine), looks(*other), "candidate") is None


def test_noise_alone_is_uneven_by_contents_in_less_than_one_of_a_hundred() -> None:
    # The heaviest noise there is: one call in two takes a hundred times as long, which makes a look doubtful in one
    # case of four; ten of the eleven after it are in one of 10,000.
    rng = random.Random(11)
    draw = lambda: rng.choice((1.0, 100.0))  # noqa: E731
    found = 0
    for _ in range(2000):
        mine = looks(*[(draw(), draw()) for _ in range(12)])
        found += is_doubtful(mine[0]) and uneven_by_contents(mine, [], "candidate") is not None
    assert found <= 1


def test_half_as_long_again_is_a_doubt() -> None:
    assert [is_doubtful(look) for look in looks((74, 50), (76, 50), (20, 50), (50, 0))] == [False, True, False, False]
