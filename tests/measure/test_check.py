"""Outputs are compared side by side with the reference's; who fails stands alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from msprun.launch import Reply
from msprun.measure.check import check, recheck
from msprun.measure.tally import Tally
from msprun.model.case import Case
from msprun.model.failure import Failure
from msprun.model.measurement import Sample
from msprun.model.operator import ALL_SIDES, Side
from tests.report import plans
from tests.report.results import all_good

DEAD = Failure(stage="first_call", kind="signal", message="died of SIGSEGV")


class Crew:
    """Answers with the states that it was made with: (request, side) -> state; notes what it was asked."""

    def __init__(self, states: dict[tuple[str, str], str] | None = None, dead: tuple[str, ...] = ()) -> None:
        self.states = states or {}
        self.dead = dead
        self.asked: list[tuple[str, str]] = []

    def load(self, tally: Tally) -> Failure | None:
        return None

    def ready(self, tally: Tally, side: str) -> Reply:
        return Reply(failure=DEAD) if side in self.dead else Reply()

    def stored(self, tally: Tally) -> str:
        return "hash"

    def ask(self, do: str, stage: str, tally: Tally, *, side: str, **words: Any) -> Reply:
        assert (stage, words["hash"]) == ("check", "hash")
        self.asked.append((do, side))
        return Reply(body={"state": self.states.get((do, side), "correct"), "rule": "standard"})


def checked(crew: Crew, sides: tuple[Side, ...] = ALL_SIDES) -> Tally:
    plan = replace(plans.plan(all_good()), sides=sides)
    tally = Tally(Case(index=0, name="case0", shape_label="[2]", dtype_label="float32"), plan, [].append)
    check(crew, tally, plan)  # type: ignore[arg-type]
    return tally


def states(tally: Tally) -> dict[str, str]:
    return {side: told.correctness.state for side, told in tally.sides.items()}


def test_the_older_build_is_checked_as_the_candidate_is() -> None:
    crew = Crew()
    tally = checked(crew)
    assert crew.asked == [(do, side) for side in ("candidate", "against") for do in ("check", "attack")]
    assert states(tally) == {"reference": "not_checked", "candidate": "correct", "against": "correct"}
    assert tally.timed_sides == ALL_SIDES


@pytest.mark.parametrize(("wrong", "other"), [("candidate", "against"), ("against", "candidate")])
def test_who_is_wrong_leaves_the_other_right(wrong: str, other: str) -> None:
    crew = Crew({("attack", wrong): "incorrect"})
    tally = checked(crew)
    assert (states(tally)[wrong], states(tally)[other]) == ("incorrect", "correct")
    assert wrong not in tally.timed_sides and other in tally.timed_sides


def test_an_older_build_that_dies_is_not_compared() -> None:
    crew = Crew(dead=("against",))
    tally = checked(crew)
    assert {side for _, side in crew.asked} == {"candidate"}
    assert tally.sides["against"].failure == DEAD and tally.sides["candidate"].failure is None


def test_without_a_reference_nothing_is_compared() -> None:
    for crew, sides in ((Crew(dead=("reference",)), ALL_SIDES), (Crew(), ("candidate", "against"))):
        checked(crew, sides)  # type: ignore[arg-type]
        assert crew.asked == []


def test_after_timing_each_side_that_was_right_is_checked_once_more() -> None:
    crew = Crew({("recheck", "against"): "incorrect"})
    tally = checked(crew)
    tally.add([Sample(case=0, side="against", phase="timed", visit=0, group=0, calls=1, elapsed_ns=1)])
    crew.asked.clear()
    recheck(crew, tally, tally.plan)  # type: ignore[arg-type]
    assert crew.asked == [("recheck", "candidate"), ("recheck", "against")]
    assert states(tally) == {"reference": "not_checked", "candidate": "correct", "against": "incorrect"}
