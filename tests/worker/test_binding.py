"""How arguments reach forward, and constructor arguments the constructor."""

from __future__ import annotations

from typing import Any

import pytest

from msprun.worker.binding import Arguments, Call, bind
from msprun.worker.construct import init_forms
from msprun.worker.failures import Refusal


class ByName:
    def forward(self, y: int, x: int) -> tuple[int, int]:
        return x, y

    __call__ = forward


class Positional:
    def forward(self, a: int, b: int) -> tuple[int, int]:
        return a, b

    __call__ = forward


class OneTuple:
    def forward(self, pair: tuple[int, int]) -> tuple[int, int]:
        return pair

    __call__ = forward


class OnlyForward:
    def forward(self, a: int, b: int) -> tuple[int, int]:
        return a, b


NAMED = Arguments([1, 2], {}, ["x", "y"])


@pytest.mark.parametrize("cls", [ByName, Positional, OneTuple, OnlyForward])
def test_described_arguments_find_their_form(cls: type) -> None:
    assert bind(cls(), NAMED)() == (1, 2)


def test_names_win_over_places() -> None:
    assert bind(ByName(), NAMED).kwargs == {"x": 1, "y": 2}


def test_names_that_are_no_identifiers_or_not_unique_are_spread() -> None:
    class Any_:
        def __call__(self, *args: int, **kwargs: int) -> Any:
            return args, kwargs

        forward = __call__

    assert bind(Any_(), Arguments([1, 2], {}, ["x", "x"]))() == ((1, 2), {})
    assert bind(Any_(), Arguments([1], {}, ["a b"]))() == ((1,), {})


def test_a_callable_without_signature_gets_keywords() -> None:
    class Odd:
        forward = property(lambda self: 7)

        def __call__(self, **kwargs: int) -> Any:
            return kwargs

    assert bind(Odd(), NAMED)() == {"x": 1, "y": 2}


def test_a_type_error_inside_forward_never_tries_another_form() -> None:
    calls = []

    class Breaks:
        def forward(self, x: int, y: int) -> None:
            calls.append((x, y))
            raise TypeError("mine")

        __call__ = forward

    with pytest.raises(TypeError, match="mine"):
        bind(Breaks(), NAMED)()
    assert calls == [(1, 2)]


def test_a_providers_arguments_are_never_reinterpreted() -> None:
    assert bind(OneTuple(), Arguments([1, 2], {})).args == (1, 2)
    assert bind(ByName(), Arguments([], {"x": 1, "y": 2}))() == (1, 2)
    assert isinstance(bind(ByName(), NAMED), Call)


@pytest.mark.parametrize(
    ("made", "case", "cases", "first"),
    [
        (None, 0, 1, ((), {})),
        ({"size": 3}, 0, 1, ((), {"size": 3})),
        ([32, 64], 0, 2, ((32, 64), {})),
        ((32, 64), 1, 2, ((32, 64), {})),
        ([[1], {"size": 2}], 0, 2, ((1,), {})),
        ([[1], {"size": 2}], 1, 2, ((), {"size": 2})),
        ([[1], [2]], 1, 3, (([1], [2]), {})),
        ([[1], 2], 1, 2, (([1], 2), {})),
        ([], 0, 0, ((), {})),
        ([[]], 0, 1, ((), {})),
    ],
)
def test_what_get_init_inputs_means(made: Any, case: int, cases: int, first: Any) -> None:
    assert init_forms(made, case, cases)[0] == first


def test_init_inputs_of_another_type_are_refused() -> None:
    with pytest.raises(Refusal, match="must return a list, tuple or dict, not int"):
        init_forms(3, 0, 1)
