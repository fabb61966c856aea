"""Which file of a folder is its cases file, and how its faults are told."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msprun.errors import ConfigError
from msprun.source.cases import read_cases

ONE = {"inputs": [{"name": "x", "type": "tensor", "dtype": "float32", "shape": [2, 3]}]}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def refused(folder, cases_file=None):
    with pytest.raises(ConfigError) as caught:
        read_cases(folder, cases_file)
    assert "\n" not in caught.value.message
    assert caught.value.hint and "\n" not in caught.value.hint
    return caught.value.message


def test_perf_cases_come_before_other_lines_and_those_before_json(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([ONE, ONE, ONE]))
    assert [len(read_cases(tmp_path, None)[0]), read_cases(tmp_path, None)[2]] == [3, "json:a.json"]
    (tmp_path / "a.jsonl").write_text(lines(ONE, ONE))
    assert [len(read_cases(tmp_path, None)[0]), read_cases(tmp_path, None)[2]] == [2, "jsonl:a.jsonl"]
    (tmp_path / "z_perf_cases.jsonl").write_text(lines(ONE))
    cases, path, origin = read_cases(tmp_path, None)
    assert (len(cases), path, origin) == (1, tmp_path / "z_perf_cases.jsonl", "jsonl:z_perf_cases.jsonl")


def test_first_of_several_perf_cases_is_taken_and_named(tmp_path):
    (tmp_path / "b_perf_cases.jsonl").write_text(lines(ONE, ONE))
    (tmp_path / "a_perf_cases.jsonl").write_text(lines(ONE))
    assert read_cases(tmp_path, None)[2] == "jsonl:a_perf_cases.jsonl"


def test_named_file_beats_the_order(tmp_path):
    (tmp_path / "a_perf_cases.jsonl").write_text(lines(ONE))
    (tmp_path / "mine.json").write_text(json.dumps([ONE, ONE]))
    cases, _, origin = read_cases(tmp_path, "mine.json")
    assert (len(cases), origin) == (2, "json:mine.json")


def test_named_file_that_is_not_there_is_an_error(tmp_path):
    assert "mine.jsonl" in refused(tmp_path, "mine.jsonl")


def test_named_file_without_cases_is_an_error(tmp_path):
    (tmp_path / "mine.json").write_text('{"per_case": []}')
    assert "holds no case" in refused(tmp_path, "mine.json")


def test_folder_without_cases_leaves_them_to_the_provider(tmp_path):
    assert read_cases(tmp_path, None) == ((), None, "provider")


def test_results_and_unrelated_json_are_no_cases(tmp_path):
    for name in ("performance.json", "perf_report.json", "result.json"):
        (tmp_path / name).write_text(json.dumps(ONE))
    (tmp_path / "config.json").write_text('{"inputs": {"a": 1}}')
    (tmp_path / "tsconfig.json").write_text("{ // a comment\n}")
    (tmp_path / "old.json.bak").write_text(json.dumps(ONE))
    assert read_cases(tmp_path, None) == ((), None, "provider")


def test_broken_json_that_speaks_of_inputs_is_an_error(tmp_path):
    (tmp_path / "add.json").write_text('[\n{"inputs": []},\n{"inputs": [}\n]')
    assert "add.json:3: not JSON" in refused(tmp_path)


def test_json_may_be_one_case_a_list_or_lines(tmp_path):
    for text, count in ((json.dumps(ONE), 1), (json.dumps([ONE, {"a": 1}, ONE]), 2), (lines(ONE, ONE, ONE), 3)):
        (tmp_path / "add.json").write_text(text)
        assert len(read_cases(tmp_path, None)[0]) == count


def test_objects_without_inputs_and_blank_lines_do_not_count(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n" + lines({"comment": 1}, ONE) + "  \r\n" + lines(ONE))
    cases = read_cases(tmp_path, None)[0]
    assert [case.index for case in cases] == [0, 1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (lines(ONE) + '{"inputs": [\n', "a.jsonl:2: not JSON: the text ends too early"),
        (lines(ONE, ONE) + '{"inputs": [],}\n', "a.jsonl:3: not JSON"),
        ('{"inputs": [{"value": NaN}]}\n', "a.jsonl:1: NaN and Infinity are not JSON"),
        ('{"inputs": [{"value": -Infinity}]}\n', "a.jsonl:1: NaN and Infinity are not JSON"),
        ('{"inputs": [{"value": 1e999}]}\n', "a.jsonl:1: not JSON"),
        ("[1]\n", "a.jsonl:1: not a JSON object"),
        ('"x"\n', "a.jsonl:1: not a JSON object"),
        (lines(ONE, {"inputs": None}), "a.jsonl:2: inputs is not a list"),
        (lines(ONE, {"inputs": [5]}), "a.jsonl:2: case 1: input 0 is 5, not an object"),
        ("[" * 200_000, "a.jsonl:1: nested too deeply"),
        ('{"inputs": [{"value": ' + "9" * 5000 + "}]}", "a.jsonl:1: not JSON"),
    ],
)
def test_faults_name_file_and_line(tmp_path, text, told):
    (tmp_path / "a.jsonl").write_text(text)
    assert told in refused(tmp_path)


def test_value_nested_too_deeply_is_one_line(tmp_path):
    for kind in ("attr", "tensor"):
        deep = "[" * 600 + "]" * 600
        (tmp_path / "a.jsonl").write_text('{"inputs": [{"name": "x", "type": "' + kind + '", "value": ' + deep + "}]}")
        assert "nested too deeply" in refused(tmp_path)


def test_byte_order_mark_is_taken_and_other_encodings_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines(ONE).encode())
    assert len(read_cases(tmp_path, None)[0]) == 1
    path.write_bytes(lines(ONE).encode() + b'{"name": "\xe9"}')
    assert "a.jsonl:2: not UTF-8" in refused(tmp_path)
    path.write_text(lines(ONE), encoding="utf-16")
    assert "a.jsonl:1: not UTF-8" in refused(tmp_path)


def test_line_separators_inside_texts_do_not_split_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"name": "a\u2028b", "inputs": []}\n', encoding="utf-8")
    assert len(read_cases(tmp_path, None)[0]) == 1


def test_folders_and_pipes_called_like_cases_files_are_passed_over(tmp_path):
    (tmp_path / "a_perf_cases.jsonl").mkdir()
    os.mkfifo(tmp_path / "b_perf_cases.jsonl")
    assert read_cases(tmp_path, None)[2] == "provider"


def test_own_names_are_kept_where_they_tell_cases_apart(tmp_path):
    values = [{**ONE, "name": name} for name in ("small", "Add", "Add", "7", "case9", "", " x", 5)]
    (tmp_path / "a.jsonl").write_text(lines(*values, ONE))
    names = [case.name for case in read_cases(tmp_path, None)[0]]
    assert names == ["small", "case1", "case2", "case3", "case4", "case5", "case6", "case7", "case8"]


@pytest.mark.parametrize(
    ("inputs", "labels"),
    [
        (
            [{"name": "a", "type": "attr", "value": 1}, {"name": "x", "type": "tensor", "shape": [2, 3]}],
            ("[2, 3]", "?"),
        ),
        ([{"name": "x", "type": "tensor", "dtype": "fp16", "shape": []}], ("[]", "fp16")),
        ([{"name": "x", "type": "tensor", "dtype": None, "shape": None}], ("None", "?")),
        ([{"name": "x", "type": "tensor", "dtype": "bf16"}], ("?", "bf16")),
        ([{"name": "n", "type": "scalar", "dtype": "int64", "value": 1}], ("?", "int64")),
        ([], ("?", "?")),
    ],
)
def test_labels_are_those_of_the_first_tensor(tmp_path, inputs, labels):
    (tmp_path / "a.jsonl").write_text(lines({"inputs": inputs}))
    case = read_cases(tmp_path, None)[0][0]
    assert (case.shape_label, case.dtype_label) == labels


@pytest.mark.parametrize(("shape", "is_empty"), [([0, 4], True), ([], False), (None, False), ([1], False)])
def test_only_a_zero_size_makes_a_case_empty(tmp_path, shape, is_empty):
    (tmp_path / "a.jsonl").write_text(lines({"inputs": [{"name": "x", "type": "tensor", "shape": shape}]}))
    assert read_cases(tmp_path, None)[0][0].is_empty is is_empty


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
DESCRIPTOR = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["x", "offsets", "", None]) | JSON,
        "type": st.sampled_from(["tensor", "attr", "scalar", "tensor_list", "other", "tensors"]) | JSON,
        "dtype": st.sampled_from(["fp16", "int64", "uint8", "bool", "str", "list", "complex64", "nope", None]) | JSON,
        "shape": st.lists(st.integers(-1, 2**41), max_size=3) | JSON,
        "value": JSON | st.lists(st.fixed_dictionaries({"shape": JSON}), max_size=2),
        "range_values": JSON | st.fixed_dictionaries({"mean": JSON, "std": JSON}),
    },
)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.lists(DESCRIPTOR | JSON, max_size=3).map(lambda inputs: {"inputs": inputs}) | JSON)
def test_any_json_is_read_or_refused_in_one_line(tmp_path, value):
    for name in ("a.jsonl", "b.json"):
        (tmp_path / name).write_text(json.dumps(value))
        try:
            cases = read_cases(tmp_path, name)[0]
        except ConfigError as error:
            assert "\n" not in error.message and name in error.message
        else:
            assert len({case.name for case in cases}) == len(cases)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60) | st.text(alphabet='{}[]":,inputs\n 0', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path, data):
    for name in ("a.jsonl", "b.json"):
        (tmp_path / name).write_bytes(data)
        try:
            read_cases(tmp_path, name)
        except ConfigError as error:
            assert "\n" not in error.message and name in error.message
