"""Calls that are not alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

import pytest

from benchmarks.streams import STREAMS, Stream, measured, schedule
from msprun.model.measurement import Sample
from msprun.model.operator import SIDES
from msprun.stat import order
from msprun.stat.likeness import uneven_by_change, uneven_by_neighbour, uneven_by_period

Make = Callable[..., Sample]
Groups = Callable[..., list[Sample]]


def calls(make: Make, times: list[float], warmup: int = 0) -> list[Sample]:
    warm = [make("candidate", 50, phase="warmup") for _ in range(warmup)]
    return warm + [make("candidate", us, i // 2) for i, us in enumerate(times)]


@pytest.mark.parametrize("period", [2, 3, 5, 8])
@pytest.mark.parametrize("warmup", [0, 7])
def test_every_nth_call_that_works_while_the_others_replay_is_told(period: int, warmup: int, sample: Make) -> None:
    # tensara#238: results are kept and replayed.
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
    # pygpubench#7: warm-up is noticed, and less is done from then on.
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
