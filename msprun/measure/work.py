"""The work of a case's calls: how fast each side did it, and whether that is possible."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from msprun.errors import ConfigError
from msprun.model.failure import Failure
from msprun.model.measurement import Remark
from msprun.model.operator import Side
from msprun.model.plan import Plan
from msprun.model.result import WorkFigures
from msprun.stat.floor import Floor, floor, floor_remark, floor_share, gb_per_s, is_impossible, tflop_per_s
from msprun.work.amounts import Amounts, amounts
from msprun.work.facts import Facts

BELOW_FLOOR = "below_floor"


class Work(Struct, frozen=True, kw_only=True):
    """Figures, the sides whose time is impossible, and what else a reader must know."""

    figures: WorkFigures | None
    failures: dict[Side, Failure]
    remarks: tuple[Remark, ...]


def work(plan: Plan, facts: Facts | None, times_us: Mapping[Side, float]) -> Work:
    """What `times_us`, the times of a call by side, mean for arguments of which `facts` are known."""
    if plan.operator.work is None or facts is None:
        return Work(figures=None, failures={}, remarks=())
    try:
        does = amounts(plan.operator.work, facts)
    except ConfigError as error:
        return Work(figures=None, failures={}, remarks=(Remark(code="work_unknown", figures={"error": error.message}),))
    least = floor(does.bytes, does.flops, plan.soc, plan.schedule.cache)
    failures = {side: _failure(us, least) for side, us in times_us.items() if least and is_impossible(us, least)}
    found = (floor_remark(us, least, side) for side, us in times_us.items())
    sound = {side: us for side, us in times_us.items() if side not in failures}
    return Work(
        figures=_figures(does, least, sound), failures=failures, remarks=tuple(remark for remark in found if remark)
    )


def _figures(does: Amounts, least: Floor | None, times_us: Mapping[Side, float]) -> WorkFigures:
    return WorkFigures(
        bytes=does.bytes,
        flops=does.flops,
        floor_us=least.us if least else None,
        bound=least.bound if least else None,
        level=least.level if least else None,
        **{f"{side}_gb_s": gb_per_s(does.bytes, us) for side, us in times_us.items()},
        **{f"{side}_tflop_s": tflop_per_s(does.flops, us) for side, us in times_us.items()},
        **{f"{side}_floor_share": floor_share(us, least) for side, us in times_us.items()},
    )


def _failure(time_us: float, least: Floor) -> Failure:
    what = "moves its bytes" if least.bound == "memory" else "makes its operations"
    return Failure(
        stage="accounting",
        kind=BELOW_FLOOR,
        message=f"{time_us:.4g} us a call, but this chip {what} in no less than {least.us:.4g} us",
        hint="does it do all its work? If so correct op.work",
    )
