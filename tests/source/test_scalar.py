"""Scalar and attribute descriptors."""

import pytest

from msprun.errors import ConfigError
from msprun.model.case import ScalarInput
from msprun.source.descriptor import parse_inputs
from msprun.source.faults import Place


def parsed(**entry):
    return parse_inputs(Place(file="a.jsonl:1", case=0), [{"name": "a", "type": "attr", **entry}])[0]


def is_exactly(made, kind, value):
    return made == ScalarInput(name="a", kind=kind, value=value) and type(made.value) is type(value)


@pytest.mark.parametrize(
    ("value", "kind"), [(-1, "int"), (-1.0, "float"), (True, "bool"), ("mean", "str"), ("float16", "str")]
)
def test_without_dtype_the_type_of_json_is_kept(value, kind):
    assert is_exactly(parsed(value=value), kind, value)


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "expected"),
    [
        ("float", 1, "float", 1.0), ("fp16", "1e-5", "float", 1e-5), ("int", 2.9, "int", 2), ("int64", "-3", "int", -3),
        ("uint8", True, "int", 1), ("bool", "false", "bool", False), ("bool", "True", "bool", True),
        ("bool", 0, "bool", False),
        ("complex64", [1, 2], "complex", (1.0, 2.0)), ("complex", 3, "complex", (3.0, 0.0)),
        ("str", "nearest", "str", "nearest"), ("str", "bfloat16", "dtype", "bfloat16"), ("str", 5, "str", "5"),
        ("list", [1, [2, 3]], "list", (1, (2, 3))), ("int", [1, 2], "list", (1, 2)), ("list_int", [1], "list", (1,)),
    ],
)  # fmt: skip
def test_dtype_decides_the_type(dtype, value, kind, expected):
    assert is_exactly(parsed(dtype=dtype, value=value), kind, expected)


def test_explicit_null_is_none_whatever_the_dtype():
    assert parsed(dtype="int64", value=None) == ScalarInput(name="a", kind="none")
    assert parsed(value=None) == ScalarInput(name="a", kind="none")


def test_null_of_a_foreign_type_is_the_default():
    assert is_exactly(parsed(type="foreign", dtype="int", value=None), "int", 1)


@pytest.mark.parametrize(
    ("dtype", "kind", "expected"),
    [("bool", "bool", True), ("int8", "int", 1), ("fp32", "float", 1.0), (None, "float", 1.0)],
)
def test_missing_value_is_one_of_the_dtype(dtype, kind, expected):
    assert is_exactly(parsed(dtype=dtype), kind, expected)


@pytest.mark.parametrize("given", [4, [4, 9], {"mean": [4, 5], "std": 1}, {"mean": 4}])
def test_range_gives_its_first_number(given):
    assert is_exactly(parsed(dtype="int", range_values=given), "int", 4)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "flaot", "value": 1}, {"dtype": 5, "value": 1}, {"dtype": "bool", "value": "maybe"},
        {"dtype": "int8", "value": 128}, {"dtype": "uint8", "value": -1}, {"value": 2**63},
        {"dtype": "fp32", "value": "x"},
        {"dtype": "fp32", "value": "inf"}, {"dtype": "fp32", "value": 10**400}, {"value": {"a": 1}},
        {"value": [{"a": 1}]},
        {"dtype": "complex64", "value": [1, 2, 3]}, {"dtype": "complex64", "value": "i"}, {"dtype": "str"},
        {"dtype": "int", "value": "9" * 5000},
    ],
)  # fmt: skip
def test_what_is_no_such_value_is_refused_in_one_line(entry):
    with pytest.raises(ConfigError) as caught:
        parsed(**entry)
    assert caught.value.message.startswith("a.jsonl:1: case 0, input 'a': ")
    assert "\n" not in caught.value.message and len(caught.value.message) < 200
