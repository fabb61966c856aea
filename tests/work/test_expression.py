"""The language of `op.work`: what it computes, what it refuses, and that it is never more than data."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msprun.errors import ConfigError
from msprun.work.evaluate import evaluate
from msprun.work.expression import DEPTH_LIMIT, LENGTH_LIMIT, parse
from msprun.work.facts import Fact, Other, Outputs, Tensor

KEY = "op.work.bytes"
X = Tensor(shape=(512, 1024), dtype="float16")
Y = Tensor(shape=(7,), dtype="float32")
FACTS: dict[str, Fact] = {
    "x": X, "y": Y, "w": (X, None, Y), "alpha": 0.5, "n": 3, "none": None, "sizes": (2, 3, 5),
    "mode": Other(kind="str"), "zero": Tensor(shape=(), dtype="int8"), "odd": Tensor(shape=(2,), dtype="float4"),
    "out": Outputs(nbytes=96),
}  # fmt: skip


def value(text: str) -> float:
    return evaluate(parse(text, KEY), FACTS)


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        value(text)
    error = caught.value
    assert error.message.isprintable() and error.message.isascii() and error.message.startswith(KEY)
    assert error.hint is not None and error.hint.isprintable()
    assert len(error.message) < 200
    return error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1048576", 1048576.0),
        ("3 * x.nbytes", 3 * 512 * 1024 * 2),
        ("2 * x.shape[0] * x.shape[-1]", 2 * 512 * 1024),
        ("x.numel * x.itemsize", 1048576.0),
        ("x.ndim + y.ndim + zero.ndim", 3.0),
        ("zero.numel * zero.nbytes", 1.0),
        ("prod(x.shape) + sum(x.shape)", 524288 + 1536),
        ("max(x.shape) - min(x.shape)", 512.0),
        ("max(1, n, alpha)", 3.0),
        ("prod(sizes, 2) + sizes[1]", 63.0),
        ("x.shape[n - 2]", 1024.0),
        ("w[0].nbytes + w[-1].nbytes", 1048576 + 28),
        ("w.nbytes + w[1].numel", 1048604.0),
        ("none.nbytes + none.numel", 0.0),
        ("alpha * 4", 2.0),
        ("7 // 2 + 7 / 2", 6.5),
        ("2 - 3 - -4", 3.0),
        ("2 * (3 + 4) * 5", 70.0),
        ("100 / 5 / 2", 10.0),
        ("-(-3)", 3.0),
        ("1.5e3 + .5", 1500.5),
        ("out.nbytes", 96.0),
        ("prod(zero.shape) + sum(zero.shape)", 1.0),
        ("\n 1 +\t2 ", 3.0),
    ],
)
def test_an_expression_has_the_value_that_python_gives_it(text: str, expected: float) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "ends too early"),
        ("3 *", 4, "ends too early"),
        ("(1 + 2", 7, ") is missing"),
        ("1 2", 3, "'2' cannot stand here"),
        ("x.nbytes nbytes", 10, "'nbytes' cannot stand here"),
        ("2 ** 9", 3, "'**' cannot stand here"),
        ("x.dtype", 3, "'dtype' cannot stand here"),
        ("z.nbytes", 1, "there is no input 'z'"),
        ("len(x)", 1, "there is no function 'len'"),
        ("min()", 5, "')' cannot stand here"),
        ("x", 1, "x is a tensor, not a number"),
        ("2 * x.shape", 7, "x.shape is a list of 2, not a number"),
        ("x.shape[2]", 9, "has 2 entries, and none at 2"),
        ("x.shape[-3]", 9, "has 2 entries, and none at -3"),
        ("x.shape[0.5]", 9, "none at 0.5"),
        ("x[0]", 3, "x is a tensor and has no [i]"),
        ("w[0]", 3, "w[i] is a tensor"),
        ("w.shape[0]", 3, "w is a list of 3 and has no .shape"),
        ("none.shape[0]", 6, "none is None and has no .shape"),
        ("mode * 2", 1, "mode is of type str, not a number"),
        ("n.numel", 3, "n is a number and has no .numel"),
        ("odd.nbytes", 5, "the size of a 'float4' is not known"),
        ("out.shape[0]", 5, "has no .shape"),
        ("sum(w)", 5, "w is a list of 3, not of numbers alone"),
        ("max(zero.shape)", 1, "max of nothing"),
        ("1 / (n - 3)", 3, "divided by 0"),
        ("1 // 0", 3, "divided by 0"),
        ("1 + 1e31", 5, "larger than 1e+30"),
        ("1e30 * 1e30", 1, "beyond 1e+30"),
        ("prod(1e20, 1e20)", 1, "beyond 1e+30"),
    ],
)
def test_a_mistake_is_one_line_with_its_column(text: str, column: int, words: str) -> None:
    message = refused(text).message
    assert message.startswith(f"{KEY}, column {column}: ") and words in message


def test_a_result_below_nothing_is_refused() -> None:
    assert "is -4, less than nothing" in refused("n - 7").message


def test_a_typo_is_guessed_and_the_inputs_are_named() -> None:
    assert refused("alpa").hint == "did you mean alpha?"
    assert "x, y, w, alpha" in (refused("q").hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "().__class__.__bases__[0]",
        "x.__class__",
        "x.shape.__len__",
        "[1 for i in x]",
        "lambda: 1",
        "x if 1 else y",
        "n:=1",
        "9**9**9",
        "9e999999999",
        "9" * LENGTH_LIMIT,
        "1_000",
        "0x10",
        "1j",
        "\N{ARABIC-INDIC DIGIT THREE}",
        "\N{FULLWIDTH DIGIT ONE}",
        "\N{SUPERSCRIPT TWO}",
        "\N{GREEK SMALL LETTER ALPHA}",
        "1\0",
        "1\N{NO-BREAK SPACE}+ 1",
        "\ud800",
        "${oc.env:HOME}",
        "{{ 7 * 7 }}",
        "1;2",
        "x.shape[",
        "x.shape[]",
        "x..nbytes",
        ".",
        "+1",
        "~1",
        "1 % 2",
        "n == 3",
        "max",
        "-" * LENGTH_LIMIT,
        "(" * (LENGTH_LIMIT // 2) + ")" * (LENGTH_LIMIT // 2),
        "sizes" + "[0]" * 160,
        "min(" * 100,
    ],
)
def test_hostile_text_is_refused_in_one_line(text: str) -> None:
    refused(text)


def test_a_long_text_is_not_read() -> None:
    error = refused("1+" * LENGTH_LIMIT)
    assert error.message == f"{KEY} has 1000 characters" and "500" in (error.hint or "")


def test_levels_end_before_the_stack_does() -> None:
    assert value("(" * DEPTH_LIMIT + "1" + ")" * DEPTH_LIMIT) == 1
    assert "levels" in refused("(" * (DEPTH_LIMIT + 1) + "1" + ")" * (DEPTH_LIMIT + 1)).message
    assert value("+".join("1" * 250)) == 250


def test_levels_do_not_multiply_the_work() -> None:
    began = time.monotonic()
    assert value("max(" * 31 + "sum(sizes)" + ")" * 31) == 10
    assert time.monotonic() - began < 5


def test_names_are_collected() -> None:
    assert parse("max(x.nbytes, w[n].nbytes) + 3", KEY).names == {"x", "w", "n"}


def numbers() -> st.SearchStrategy[str]:
    whole = st.integers(0, 10**6).map(str)
    return (
        whole
        | st.floats(0, 1e6, allow_nan=False).map(repr)
        | st.sampled_from(["n", "alpha", "x.shape[0]", "sizes[-1]"])
    )


def expressions() -> st.SearchStrategy[str]:
    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(inner, st.sampled_from([" + ", "-", " * ", "/", " // "]), inner).map("".join)
        many = st.tuples(st.sampled_from(["min", "max"]), st.lists(inner, min_size=2, max_size=3))
        one = st.sampled_from(["min", "max", "sum", "prod"]).map(lambda name: f"{name}(x.shape)")
        return (
            pair
            | inner.map("({})".format)
            | inner.map("-{}".format)
            | one
            | many.map(lambda m: f"{m[0]}({','.join(m[1])})")
        )

    return st.recursive(numbers(), grown, max_leaves=12)


class Known:
    """The same arguments for Python's own arithmetic."""

    shape = X.shape


@given(expressions())
@settings(deadline=None, max_examples=400)
def test_arithmetic_agrees_with_python(text: str) -> None:
    names = {
        "x": Known,
        "n": 3,
        "alpha": 0.5,
        "sizes": (2, 3, 5),
        "prod": math.prod,
        "sum": sum,
        "min": min,
        "max": max,
    }
    try:
        expected = eval(text, {"__builtins__": {}}, names)
    except (ZeroDivisionError, OverflowError):
        expected = None
    if len(text) > LENGTH_LIMIT:
        return
    try:
        found = value(text)
    except ConfigError as error:
        assert expected is None or expected < 0 or "beyond" in error.message or "levels" in error.message
    else:
        assert found == expected


@given(st.text() | st.text(alphabet="0123456789.eE+-*/()[],xnw shapemi_", max_size=80))
@settings(deadline=2000, max_examples=600)
def test_any_text_is_a_number_or_one_line(text: str) -> None:
    try:
        found = value(text)
    except ConfigError as error:
        assert error.message.isprintable() and error.message.isascii()
    else:
        assert 0 <= found <= 1e30
