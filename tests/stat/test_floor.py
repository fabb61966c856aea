"""The least time of a call, by hand for each chip, and what a time below it means."""

from __future__ import annotations

import pytest

from msprun import soc
from msprun.model.soc import Figure, Soc
from msprun.stat.floor import Floor, floor, floor_remark, floor_share, gb_per_s, is_impossible, tflop_per_s

MIB = 1024 * 1024


def chip(name: str) -> Soc:
    found = soc.find(name)
    assert found is not None
    return found


# 90 MiB fit into every L2 that is known, 400 MiB into none; microseconds = bytes / (GB/s) / 1000.
@pytest.mark.parametrize(
    ("name", "nbytes", "cache", "level", "us"),
    [
        ("Ascend910B1", 90 * MIB, "warm", "l2", 94371840 / 8000e3),
        ("Ascend910B1", 90 * MIB, "flush", "hbm", 94371840 / 1800e3),
        ("Ascend910B1", 192 * MIB, "warm", "l2", 25.165824),
        ("Ascend910B1", 192 * MIB + 1, "warm", "hbm", 111.8481072),
        ("Ascend910B2", 90 * MIB, "rotate", "l2", 12.130056),
        ("Ascend910B2", 400 * MIB, "warm", "hbm", 239.674514),
        ("Ascend910B2C", 90 * MIB, "flush", "hbm", 53.926766),
        ("Ascend910B3", 400 * MIB, "warm", "hbm", 239.674514),
        ("Ascend910B4", 90 * MIB, "warm", "l2", 14.979657),
        ("Ascend910B4-1", 100 * MIB, "warm", "hbm", 83.88608),
        ("Ascend910_9391", 90 * MIB, "flush", "hbm", 52.4288),
        ("Ascend910_9382", 90 * MIB, "warm", "l2", 12.130056),
        ("Ascend910_9372", 90 * MIB, "flush", "hbm", 53.926766),
        ("Ascend910_9362", 90 * MIB, "flush", "hbm", 75.497472),
        ("Ascend910ProB", 90 * MIB, "flush", "hbm", 82.205436),
        ("Ascend950PR_9579", 400 * MIB, "warm", "hbm", 262.144),
        ("Ascend950PR_9589", 90 * MIB, "flush", "hbm", 58.9824),
        ("Ascend950PR_9599", 90 * MIB, "flush", "hbm", 58.9824),
    ],
)
def test_bytes_take_their_time(name: str, nbytes: int, cache: str, level: str, us: float) -> None:
    least = floor(nbytes, None, chip(name), cache)
    assert least is not None
    assert (least.bound, least.level) == ("memory", level) and least.us == pytest.approx(us, rel=1e-6)


# 1e12 operations; microseconds = operations / (TFLOP/s) / 1e6.
@pytest.mark.parametrize(
    ("name", "us"),
    [
        ("Ascend910B1", 1319.609),
        ("Ascend910B2", 1412.829),
        ("Ascend910B2C", 1412.829),
        ("Ascend910B3", 1695.490),
        ("Ascend910B4", 1849.797),
        ("Ascend910_9391", 1319.609),
        ("Ascend910_9382", 1412.829),
        ("Ascend910_9372", 1695.490),
        ("Ascend910_9362", 1849.797),
        ("Ascend950PR_9579", 660.502),
        ("Ascend950PR_9589", 578.035),
        ("Ascend950PR_9599", 513.772),
        ("Ascend950DT_9572", 660.502),
        ("Ascend950DT_9582", 578.035),
        ("Ascend950DT_9581", 578.035),
    ],
)
def test_operations_take_their_time_at_the_highest_peak(name: str, us: float) -> None:
    least = floor(None, 1e12, chip(name), "warm")
    assert least is not None and (least.bound, least.level) == ("compute", None)
    assert least.us == pytest.approx(us, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "nbytes", "cache", "why"),
    [
        ("Ascend310P3", 90 * MIB, "flush", "no bandwidth"),
        ("Ascend910ProB", 90 * MIB, "warm", "size of L2 unknown"),
        ("Ascend950PR_9579", 90 * MIB, "warm", "bandwidth of L2 unknown"),
        ("Ascend950DT_9582", 400 * MIB, "warm", "bandwidth of the memory unknown"),
    ],
)
def test_where_a_figure_is_missing_there_is_no_floor(name: str, nbytes: int, cache: str, why: str) -> None:
    assert floor(nbytes, None, chip(name), cache) is None, why


def test_without_the_8_bit_figure_the_highest_peak_is_not_known() -> None:
    assert chip("Ascend910ProB").cube_tflop_s["fp16"] is not None
    assert floor(None, 1e12, chip("Ascend910ProB"), "warm") is None


def test_an_unknown_chip_and_unknown_work_have_no_floor() -> None:
    assert floor(90 * MIB, 1e12, None, "warm") is None
    assert floor(None, None, chip("Ascend910B1"), "warm") is None
    assert floor(0, 0, chip("Ascend910B1"), "warm") is None


def test_the_slower_one_of_both_bounds() -> None:
    b1 = chip("Ascend910B1")
    memory, compute = floor(90 * MIB, 1e9, b1, "warm"), floor(90 * MIB, 1e12, b1, "warm")
    assert memory is not None and memory.bound == "memory" and memory.us == pytest.approx(11.79648)
    assert compute is not None and compute.bound == "compute" and compute.us == pytest.approx(1319.609)


def test_of_several_figures_the_highest_counts() -> None:
    b4 = chip("Ascend910B4")
    assert b4.hbm_gb_s is not None and b4.hbm_gb_s[0] == Figure(value=800, source=b4.hbm_gb_s[0].source)
    least = floor(1250e6, None, b4, "flush")
    assert least is not None and least.us == pytest.approx(1000)


MEMORY = Floor(us=100.0, bound="memory", level="hbm")
COMPUTE = Floor(us=100.0, bound="compute")


@pytest.mark.parametrize(("time_us", "expected"), [(49.9, True), (50.0, False), (99.0, False), (150.0, False)])
def test_below_half_the_floor_is_impossible(time_us: float, expected: bool) -> None:
    assert is_impossible(time_us, MEMORY) is is_impossible(time_us, COMPUTE) is expected
    assert not is_impossible(time_us, None)


@pytest.mark.parametrize("time_us", [50.0, 75.0, 99.9])
def test_between_half_and_the_floor_caches_have_helped(time_us: float) -> None:
    remark = floor_remark(time_us, MEMORY, "candidate")
    assert remark is not None and (remark.code, remark.next) == ("served_from_l2", "cache=flush")
    assert remark.figures == {"side": "candidate", "time_us": time_us, "floor_us": 100.0}


def test_no_cache_explains_operations_above_the_peak() -> None:
    remark = floor_remark(75.0, COMPUTE, "reference")
    assert remark is not None and (remark.code, remark.next) == ("above_peak", None)


@pytest.mark.parametrize("time_us", [49.9, 100.0, 500.0])
def test_other_times_need_no_remark(time_us: float) -> None:
    assert floor_remark(time_us, MEMORY, "candidate") is None is floor_remark(time_us, None, "candidate")


def test_rates_count_in_powers_of_ten() -> None:
    assert gb_per_s(3 * 512 * 1024 * 2, 10.0) == pytest.approx(314.5728)
    assert tflop_per_s(2 * 1024**3, 10.0) == pytest.approx(214.7483648)
    assert gb_per_s(None, 10.0) is gb_per_s(1.0, None) is tflop_per_s(None, 1.0) is tflop_per_s(1.0, None) is None


def test_the_share_of_the_floor_is_floor_over_time() -> None:
    assert floor_share(400.0, MEMORY) == 0.25
    assert floor_share(80.0, COMPUTE) == 1.25  # served from caches, or too many operations counted
    assert floor_share(None, MEMORY) is floor_share(400.0, None) is floor_share(0.0, MEMORY) is None
