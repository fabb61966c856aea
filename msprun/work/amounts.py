"""Bytes and operations of one call, by the expressions that an operator has for them."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from msprun.errors import ConfigError
from msprun.model.operator import Operator, Work
from msprun.work.evaluate import evaluate
from msprun.work.expression import Expression, parse
from msprun.work.facts import OUT, Facts, of_case, with_outputs


class Amounts(Struct, frozen=True, kw_only=True):
    """What one call moves at least (bytes) and computes (operations); None where nothing says it."""

    bytes: float | None = None
    flops: float | None = None


def amounts(work: Work | None, facts: Facts | None) -> Amounts:
    """The amounts of a call with these arguments. Raises ConfigError as `evaluate` does.

    An expression that speaks of `out` has no value before the size of the outputs is among the facts.
    """
    if work is None or facts is None:
        return Amounts()
    return Amounts(bytes=_value(work.bytes, "bytes", facts), flops=_value(work.flops, "flops", facts))


def verify(operator: Operator, cases: Collection[int]) -> None:
    """Read the operator's expressions and try them on each of these cases, as far as a cases file describes them.

    Raises ConfigError that names the key, the column and the case.
    """
    for name, text in (("bytes", operator.work.bytes), ("flops", operator.work.flops)) if operator.work else ():
        if text is None:
            continue
        expression = _parsed(text, name)
        for case in operator.cases:
            facts = of_case(case) if case.index in cases else None
            if facts is not None:
                _tried(expression, with_outputs(facts, 1), case.name)


def _tried(expression: Expression, facts: Facts, case: str) -> None:
    try:
        evaluate(expression, facts)
    except ConfigError as error:
        raise ConfigError(f"{error.message} (case {case})", error.hint) from None


def _value(text: str | None, name: str, facts: Facts) -> float | None:
    if text is None:
        return None
    expression = _parsed(text, name)
    if OUT in expression.names and OUT not in facts:
        return None
    return evaluate(expression, facts)


def _parsed(text: str, name: str) -> Expression:
    return parse(text, f"op.work.{name}")
