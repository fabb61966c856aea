"""What the samples of a case say that a reader must know: every remark of the statistics, in order."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from msprun.model.measurement import Paired, Remark, Sample, SideResult
from msprun.model.operator import ALL_SIDES, OLD_AND_NEW, SIDES, Side
from msprun.model.plan import Schedule
from msprun.stat import doubt, likeness, populations, steadiness, waiting

GROUPS_MIN = 6


class Evidence(Struct, frozen=True, kw_only=True):
    """What is known of a case. `pair` and, with an older build, `old_pair` are None where a side has no time, `sides`
    has those that were asked for.

    `is_same_code`: the candidate is the reference by intention. `has_extension`: it comes with compiled code of its
    own, which need not call a torch operator.
    """

    samples: tuple[Sample, ...]
    pair: Paired | None
    old_pair: Paired | None = None
    schedule: Schedule
    sides: dict[Side, SideResult]
    is_same_code: bool = False
    has_extension: bool = False


def case_remarks(evidence: Evidence) -> tuple[Remark, ...]:
    """Remarks on how the calls were made, how steady they were, how alike, and what cannot be true."""
    samples, schedule = evidence.samples, evidence.schedule
    if not any(sample.phase == "timed" for sample in samples):
        return ()
    found: list[Remark | None] = [_few_samples(evidence), _sequential_order(evidence)]
    for side in ALL_SIDES:
        mine = [sample for sample in samples if sample.side == side]
        drifts = steadiness.drift(mine, side)
        found += [drifts, steadiness.unsteady_warmup(mine, side, schedule), steadiness.fallback_block(mine, side)]
        found += [None if drifts else populations.two_populations(mine, side), populations.gc_or_cache(mine, side)]
        found.append(likeness.uneven_by_period(mine, side) or likeness.uneven_by_neighbour(samples, side))
    for pair in (SIDES, OLD_AND_NEW):
        found += [steadiness.visits_differ(samples, pair), likeness.uneven_by_change(samples, pair)]
    found += _told(evidence)
    return tuple(remark for remark in found if remark is not None)


def _told(evidence: Evidence) -> Iterable[Remark | None]:
    """Remarks on what the sides told beside their times."""
    for side, seen in evidence.sides.items():
        yield populations.first_call(seen, side)
        yield doubt.low_coverage(seen, side)
        yield waiting.span_differs(seen, side)
        yield waiting.host_bound(seen, side)
        others = [known.fresh for other, known in evidence.sides.items() if other != side]
        yield likeness.uneven_by_contents(seen.fresh, next(iter(others), ()), side)
    reference, candidate = evidence.sides.get("reference"), evidence.sides.get("candidate")
    yield doubt.too_good(evidence.pair)
    if candidate and not evidence.has_extension:
        yield doubt.no_own_kernels(candidate)
    if reference and candidate and not evidence.is_same_code:
        yield doubt.same_kernels(reference, candidate)


def _few_samples(evidence: Evidence) -> Remark | None:
    """Fewer groups, or samples of a single side, than an interval takes."""
    schedule = evidence.schedule
    groups = [pair.quads for pair in (evidence.pair, evidence.old_pair) if pair]
    seen = min(groups, default=sum(sample.phase == "timed" for sample in evidence.samples))
    if seen >= GROUPS_MIN:
        return None
    step = f"budget_s={4 * schedule.budget_s:g}" if schedule.repeats is None else "repeats=auto"
    return Remark(code="few_samples", figures={"seen": seen, "needed": GROUPS_MIN}, next=step)


def _sequential_order(evidence: Evidence) -> Remark | None:
    """One side after the other: drift is not cancelled, so there is no verdict."""
    if not (evidence.pair or evidence.old_pair) or evidence.schedule.order != "sequential":
        return None
    return Remark(code="sequential_order", next="order=interleaved")
