"""What expressions know of arguments, from the cases file or from a worker."""

from __future__ import annotations

import pytest

from msprun.errors import ConfigError
from msprun.model.case import Case, CaseInput, ScalarInput, TensorInput, TensorListInput
from msprun.source.dtypes import TENSOR_DTYPES
from msprun.work.evaluate import evaluate
from msprun.work.expression import parse
from msprun.work.facts import ITEM_BYTES, Facts, of_case, of_worker, with_outputs


def tensor(name: str, *shape: int, dtype: str = "float16") -> TensorInput:
    return TensorInput(name=name, dtype=dtype, shape=shape)


def case(*inputs: CaseInput) -> Case:
    return Case(index=0, name="one", shape_label="?", dtype_label="?", inputs=inputs)


def value(text: str, facts: Facts | None) -> float:
    assert facts is not None
    return evaluate(parse(text, "op.work.flops"), facts)


def test_tensors_are_known_by_name_and_by_position() -> None:
    facts = of_case(case(tensor("x", 4, 8), tensor("y", 3, dtype="int64")))
    assert value("x.nbytes + y.nbytes", facts) == 4 * 8 * 2 + 3 * 8
    assert value("arg0.nbytes + arg1.nbytes", facts) == 88


def test_an_input_called_arg0_is_itself() -> None:
    assert value("arg0.shape[0]", of_case(case(tensor("x", 4), tensor("arg0", 9)))) == 9


def test_an_input_without_a_usable_name_has_its_position() -> None:
    assert value("arg1.numel", of_case(case(tensor("#0", 4), tensor("\N{GREEK SMALL LETTER ALPHA}", 9)))) == 9


def test_none_has_no_bytes() -> None:
    facts = of_case(case(TensorInput(name="bias", dtype="float16", shape=None), ScalarInput(name="k", kind="none")))
    assert value("bias.nbytes + k.nbytes", facts) == 0


def test_elements_of_a_list_are_tensors() -> None:
    entries = (tensor("w[0]", 2, 3), tensor("w[1]", 5, dtype="float32"))
    facts = of_case(case(TensorListInput(name="w", items=entries)))
    assert value("w[1].shape[0] + w.nbytes", facts) == 5 + 12 + 20


@pytest.mark.parametrize(
    ("kind", "given", "expected"), [("int", 3, 3), ("float", 0.5, 0.5), ("bool", True, 1), ("list", (2, 7), 2)]
)
def test_plain_values_are_numbers(kind: str, given: object, expected: float) -> None:
    text = "k[0]" if kind == "list" else "k"
    assert value(text, of_case(case(ScalarInput(name="k", kind=kind, value=given)))) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "given"), [("str", "sum"), ("dtype", "float16"), ("complex", (1.0, 2.0))])
def test_other_values_are_none(kind: str, given: object) -> None:
    with pytest.raises(ConfigError, match=f"k is of type {kind}"):
        value("k", of_case(case(ScalarInput(name="k", kind=kind, value=given))))  # type: ignore[arg-type]


def test_every_dtype_of_cases_files_has_a_size() -> None:
    assert set(TENSOR_DTYPES.values()) == set(ITEM_BYTES)


def test_without_a_cases_file_nothing_is_known() -> None:
    assert of_case(Case(index=0, name="one", shape_label="?", dtype_label="?")) is None


UNNAMED = Case(index=0, name="one", shape_label="?", dtype_label="?")
TOLD = [(None, {"shape": [4, 8], "dtype": "float16"}), (None, [{"shape": [3], "dtype": "int64"}, None])]


def test_a_workers_arguments_have_positions() -> None:
    assert value("arg0.nbytes + arg1[0].nbytes", of_worker(TOLD, UNNAMED)) == 88


def test_a_workers_keywords_are_names() -> None:
    told = [("k", 3), ("scale", True), ("mode", {"kind": "str"}), ("ends", [1, 2.5])]
    facts = of_worker(told, UNNAMED)
    assert value("k + scale + ends[1] + arg0", facts) == 9.5
    with pytest.raises(ConfigError, match="mode is of type str"):
        value("mode", facts)


def test_a_providers_arguments_are_called_as_the_cases_file_says() -> None:
    declared = case(tensor("x", 1, 1), TensorListInput(name="w", items=()))
    assert value("x.nbytes + w.nbytes", of_worker(TOLD, declared)) == 88
    with pytest.raises(ConfigError, match="no input 'x'"):
        value("x.nbytes", of_worker(TOLD, case(tensor("x", 1))))


def test_outputs_are_known_once_their_bytes_are() -> None:
    facts = of_case(case(tensor("x", 4)))
    assert facts is not None and "out" not in with_outputs(facts, None)
    assert value("x.nbytes + out.nbytes", with_outputs(facts, 100)) == 108


def test_an_input_called_out_goes_before_the_outputs() -> None:
    facts = of_case(case(tensor("out", 4)))
    assert facts is not None and value("out.nbytes", with_outputs(facts, 100)) == 8
