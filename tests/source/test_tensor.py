"""Tensor descriptors: shape, dtype and fill."""

import pytest

from msprun.errors import ConfigError
from msprun.model.case import TensorInput, TensorListInput
from msprun.source.descriptor import parse_inputs
from msprun.source.dtypes import integer_range
from msprun.source.faults import Place

PLACE = Place(file="a.jsonl:7", case=2)


def parsed(**entry):
    return parse_inputs(PLACE, [{"name": "x", **entry}])[0]


def refused(**entry):
    with pytest.raises(ConfigError) as caught:
        parsed(**entry)
    assert caught.value.message.startswith("a.jsonl:7: case 2, input 'x")
    assert "\n" not in caught.value.message + (caught.value.hint or "")
    return caught.value


@pytest.mark.parametrize(
    ("word", "dtype"),
    [
        ("fp16", "float16"), ("half", "float16"), ("float", "float32"), ("fp64", "float64"), ("bf16", "bfloat16"),
        ("int", "int32"), ("long", "int64"), ("uint64", "uint64"), ("complex128", "complex128"), ("bool", "bool"),
        ("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e5m2"), (None, "float16"),
    ],
)  # fmt: skip
def test_dtype_words_become_torch_names(word, dtype):
    assert parsed(dtype=word, shape=[2]) == TensorInput(name="x", dtype=dtype, shape=(2,))


def test_unknown_dtype_is_refused_with_a_near_word():
    error = refused(dtype="flaot16", shape=[2])
    assert error.message == "a.jsonl:7: case 2, input 'x': unknown dtype 'flaot16'"
    assert error.hint == "did you mean float16?"


def test_case_of_dtype_words_counts():
    assert refused(dtype="FP16").hint


def test_missing_shape_is_0d_and_null_shape_an_argument_that_is_none():
    assert parsed(type="tensor").shape == ()
    assert parsed(type="tensor", shape=None).shape is None


@pytest.mark.parametrize(
    "shape", [[-1], [True], [2.0], ["2"], 5, "ab", {"a": 1}, [2**40 + 1], [2**30, 2**30, 0], [1] * 65]
)
def test_shapes_that_cannot_be_are_refused(shape):
    refused(shape=shape)


def test_largest_shape_is_taken():
    assert parsed(shape=[2**40]).shape == (2**40,)


def test_pair_is_a_uniform_range():
    assert parsed(shape=[4], range_values=[-1, 2]) == TensorInput(
        name="x", dtype="float16", shape=(4,), fill="uniform", low=-1.0, high=2.0
    )


@pytest.mark.parametrize("given", [3, [3]])
def test_number_as_range_is_a_constant(given):
    made = parsed(shape=[4], range_values=given)
    assert (made.fill, made.value, made.shape) == ("value", 3, (4,))


@pytest.mark.parametrize(
    ("given", "moments"),
    [({"mean": 1, "std": 2}, (1, 2)), ({"mean": [5, 9], "std": [0.5]}, (5, 0.5)), ({"std": 3}, (0, 3)), ({}, (0, 1))],
)
def test_mean_and_std_are_a_normal_distribution(given, moments):
    made = parsed(shape=[4], range_values=given)
    assert (made.fill, made.mean, made.std) == ("normal", *moments)


@pytest.mark.parametrize(
    "given",
    ["a", [2, 1], [1, 2, 3], [], [None, None], [[0, 1]], {"mean": "a"}, {"std": -1}, {"mean": []}, [0, 10**400]],
)
def test_ranges_that_say_nothing_are_refused(given):
    refused(shape=[4], range_values=given)


def test_integer_range_must_fit_the_dtype():
    assert refused(dtype="uint8", shape=[4], range_values=[-1, 5]).hint == "the dtype holds 0 to 255"
    assert parsed(dtype="uint8", shape=[4], range_values=[0, 255]).high == 255


def test_integer_range_must_hold_an_integer():
    assert "no whole number" in refused(dtype="int32", shape=[4], range_values=[0.2, 0.8]).message
    assert parsed(dtype="float32", shape=[4], range_values=[0.2, 0.8]).high == 0.8


@pytest.mark.parametrize("name", ["group_list", "CU_SEQLENS_Q", "offs"])
def test_integers_by_the_names_of_offsets_are_running_sums(name):
    assert parsed(name=name, dtype="int64", shape=[4]).fill == "offsets"
    assert parsed(name=name, dtype="float32", shape=[4]).fill == "normal"


def test_explicit_value_beats_the_offsets_rule_and_keeps_its_shape():
    made = parsed(name="offsets", dtype="int64", value=[[1, 2], [3, 4], [5, 6]])
    assert (made.fill, made.value, made.shape) == ("value", ((1, 2), (3, 4), (5, 6)), (3, 2))


def test_number_as_value_fills_the_shape():
    assert (parsed(shape=[2, 2], value=0.5).shape, parsed(value=0.5).shape) == ((2, 2), ())
    assert parsed(shape=[2], value=None).fill == "normal"


@pytest.mark.parametrize(
    "entry",
    [
        {"value": [1, [2]]}, {"value": [[1], 2]}, {"value": [[1, 2], [3]]}, {"value": "a"}, {"value": ["a"]},
        {"value": {"a": 1}}, {"value": [None]}, {"value": [1, 2], "shape": [3]}, {"value": 256, "dtype": "uint8"},
        {"value": [10**400]},
    ],
)  # fmt: skip
def test_values_that_are_no_tensor_are_refused(entry):
    refused(**entry)


def test_list_of_tensors_has_its_own_shapes_and_dtypes():
    made = parsed(type="tensor_list", dtype="bf16", value=[{"shape": [2, 3], "dtype": "fp32"}, {"shape": [4]}, {}])
    assert made == TensorListInput(
        name="x",
        items=(
            TensorInput(name="x[0]", dtype="float32", shape=(2, 3)),
            TensorInput(name="x[1]", dtype="bfloat16", shape=(4,)),
            TensorInput(name="x[2]", dtype="bfloat16", shape=()),
        ),
    )
    assert parsed(type="tensor_list", value=[]).items == ()


@pytest.mark.parametrize("value", [None, 5, {}, [5], [None]])
def test_list_of_tensors_without_a_list_is_refused(value):
    refused(type="tensor_list", value=value)


def test_fault_in_a_list_names_its_entry():
    assert "input 'x[1]'" in refused(type="tensor_list", value=[{}, {"dtype": "no"}]).message


def test_unnamed_inputs_stay_apart_by_position():
    made = parse_inputs(PLACE, [{"shape": [1]}, {"name": "y"}, {"name": "", "shape": [3]}])
    assert [entry.name for entry in made] == ["#0", "y", "#2"]


def test_two_inputs_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="two inputs are called 'x'"):
        parse_inputs(PLACE, [{"name": "x"}, {"name": "x"}])


@pytest.mark.parametrize("name", [5, ["a"], "a\nb", "x" * 300, "\x1b[31m"])
def test_names_that_cannot_be_shown_are_refused(name):
    with pytest.raises(ConfigError) as caught:
        parse_inputs(PLACE, [{"name": name}])
    assert "\n" not in caught.value.message and "\x1b" not in caught.value.message


def test_mistyped_type_is_refused_and_a_foreign_one_is_a_scalar():
    assert refused(type="tensors").hint == "did you mean tensor?"
    assert parsed(type="int", dtype="int", value=3).kind == "int"
    refused(type=["tensor"])


@pytest.mark.parametrize(
    ("dtype", "limits"),
    [
        ("int8", (-128, 127)),
        ("uint16", (0, 65535)),
        ("int64", (-(2**63), 2**63 - 1)),
        ("float16", None),
        ("bool", None),
    ],
)
def test_integer_ranges(dtype, limits):
    assert integer_range(dtype) == limits


@pytest.mark.parametrize(("shape", "stride"), [([3, 4], [1, 3]), ([3, 4], [8, 2]), ([3, 4], [0, 1]), ([1, 4], [0, 1])])
def test_strides_are_kept(shape, stride):
    assert parsed(shape=shape, stride=stride, dtype="float32").stride == tuple(stride)


@pytest.mark.parametrize(("shape", "stride"), [([3, 4], [4, 1]), ([], []), ([2, 0, 3], [3, 3, 1]), ([5], [1])])
def test_contiguous_strides_are_none(shape, stride):
    assert parsed(shape=shape, stride=stride).stride is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"stride": [1]}, "stride has 1 entries for 2 dimensions"),
        ({"stride": "transposed"}, "stride is 'transposed', not a list"),
        ({"stride": [-1, 1]}, "stride holds -1"),
        ({"stride": [True, 1]}, "stride holds true"),
        ({"stride": [1, 1]}, "stride lets elements share memory"),
        ({"stride": [3, 1]}, "stride lets elements share memory"),
        ({"stride": [2**40, 1]}, "stride reaches over more than 2**40 elements"),
        ({"format": "chanels_last"}, "unknown format 'chanels_last'"),
        ({"format": 3}, "unknown format 3"),
        ({"format": "FRACTAL_NZ"}, "unknown format 'FRACTAL_NZ'"),
        ({"format": "channels_last"}, "format channels_last needs 4 dimensions, not 2"),
        ({"format": "nd", "stride": [4, 1]}, "stride and format exclude each other"),
        ({"shape": None, "format": "nd"}, "stride and format need a shape"),
        ({"range": [0, 1], "range_values": [0, 2]}, "range and range_values differ"),
    ],
)
def test_layouts_that_cannot_be_are_refused_by_file_case_and_input(more, words):
    assert refused(**{"shape": [3, 4], **more}).message == f"a.jsonl:7: case 2, input 'x': {words}"


def test_a_near_format_is_guessed():
    assert refused(shape=[1, 2, 3, 4], format="chanels_last").hint == "did you mean channels_last?"


@pytest.mark.parametrize("word", ["nd", "ND", "contiguous", "NCHW"])
def test_plain_formats_say_nothing(word):
    assert parsed(shape=[1, 2, 3, 4], format=word) == parsed(shape=[1, 2, 3, 4])


def test_memory_formats_are_kept():
    assert parsed(shape=[1, 2, 3, 4], format="channels_last").format == "channels_last"
    assert parsed(shape=[1, 2, 3, 4, 5], format="Channels_Last_3D").format == "channels_last_3d"


def test_range_is_another_word_for_range_values():
    assert parsed(shape=[2], range=[0, 1]) == parsed(shape=[2], range_values=[0, 1])
    assert parsed(shape=[2], range=[0, 1], range_values=[0, 1]).high == 1.0
    assert refused(shape=[2], range=[2, 1]).message.endswith("range_values begins at 2 and ends at 1")


def test_items_of_a_tensor_list_have_layouts_of_their_own():
    made = parsed(type="tensor_list", value=[{"shape": [2, 3], "stride": [1, 2]}, {"shape": [2]}])
    assert isinstance(made, TensorListInput) and [item.stride for item in made.items] == [(1, 2), None]


def test_an_explicit_value_has_a_layout_too():
    assert parsed(value=[[1, 2], [3, 4]], stride=[1, 2], dtype="float32").stride == (1, 2)
