"""Sessions of a plan: their commands, environments and jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from msprun.bench import Bench, Service, job, session
from msprun.model.operator import SIDES, Side
from tests.report import plans
from tests.report.results import all_good

MADE = plans.plan(all_good())
BOTH = (("MODE", "b"), ("ONLY", "c"), ("MSPRUN_PARENT", "77"))
BENCH = Bench(
    operator=MADE.operator,
    device=replace(MADE.device, kind="npu"),
    python=Path("/venv/bin/python"),
    python_why="it has torch",
    profiler="msprof",
    environment=BOTH,
    apart={"reference": (("MODE", "a"),), "candidate": (("MODE", "b"), ("ONLY", "c"))},
)


@pytest.mark.parametrize(
    ("sides", "own"),
    [
        (SIDES, {"MODE": "b", "ONLY": "c"}),
        (("reference",), {"MODE": "a"}),
        (("candidate",), {"MODE": "b", "ONLY": "c"}),
    ],
)
def test_a_process_of_one_side_has_that_sides_variables(sides: tuple[Side, ...], own: dict[str, str]) -> None:
    made = session(BENCH, 1, Path("/r"), Service(cases=(0,), sides=sides, is_timing=True))
    assert {name: value for name, value in made.command.env if name in ("MODE", "ONLY")} == own


def test_a_profiled_worker_stands_behind_msprof_and_ends_with_it() -> None:
    made = session(BENCH, 1, Path("/r"), Service(cases=(0,), sides=SIDES, is_timing=True))
    assert (made.round, made.collector, made.command.argv[0]) == ("timing", "msprof", "msprof")
    assert made.command.dies_with_parent
    assert dict(made.command.env)["MSPRUN_PARENT"] == "0"  # its parent is msprof, whichever process that is
    assert dict(made.command.env)["ASCEND_PROCESS_LOG_PATH"] == "/r/sessions/1/plog"


def test_the_check_is_seen_by_nobody_else() -> None:
    made = session(BENCH, 0, Path("/r"), Service(cases=(0,), sides=SIDES))
    assert (made.round, made.collector, made.command.argv) == (
        "check", None, ("/venv/bin/python", "/r/sessions/0/wrapper.py"),
    )  # fmt: skip
    assert not made.command.dies_with_parent
    assert dict(made.command.env)["MSPRUN_PARENT"] == "77"


def test_a_session_that_only_times_compares_nothing() -> None:
    """What a check needs beside calls (poison, copies of outputs) would be in the profiler's records."""
    check, timing = (
        session(BENCH, number, Path("/r"), Service(cases=(0,), sides=SIDES, is_timing=number > 0)) for number in (0, 1)
    )
    assert job(BENCH, MADE, 0, check)["check"] == MADE.check
    assert job(BENCH, MADE, 0, timing)["check"] is None


def test_a_side_that_is_timed_by_the_clock_is_not_checked_again_either() -> None:
    made = session(replace(BENCH, profiler="clock"), 1, Path("/r"), Service(cases=(0,), sides=SIDES, is_timing=True))
    assert (made.round, made.collector, made.command.argv[0]) == ("timing", None, "/venv/bin/python")
