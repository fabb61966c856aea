"""Work of a call: of the operators that travel with msprun, and of requests that make no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun import config
from msprun.errors import ConfigError
from msprun.model.case import Case, TensorInput
from msprun.model.operator import Implementation, Operator, Work
from msprun.resources import data_folder
from msprun.schema import Op, OpCheck, OpWork, Side
from msprun.source.folder import load_operator
from msprun.work.amounts import Amounts, amounts, verify
from msprun.work.facts import of_case, with_outputs


def shipped(name: str) -> Operator:
    said = config.raw_file(data_folder("conf") / "op" / f"{name}.yaml")["work"]
    op = Op(
        dir=str(data_folder("examples") / name),
        name=name,
        reference=Side(file="model.py", cls="Model", env={}),
        candidate=Side(file="model_new_ascendc.py", cls="ModelNew", env={}),
        cases_file=None,
        build=None,
        check=OpCheck(rtol=None, atol=None, threshold=None, compare=None),
        work=OpWork(**said),
    )
    return load_operator(op, compile_sources=False)


def of(name: str, case: str, out_bytes: int | None = None) -> Amounts:
    operator = shipped(name)
    found = next(each for each in operator.cases if each.name == case)
    facts = of_case(found)
    assert facts is not None
    return amounts(operator.work, with_outputs(facts, out_bytes))


# By hand: elements that are read and written times their size, and operations on each.
@pytest.mark.parametrize(
    ("name", "case", "nbytes", "flops"),
    [
        ("add", "fp16_large", 3 * 512 * 1024 * 2, 2 * 512 * 1024),
        ("add", "fp32_small", 3 * 32 * 128 * 4, 2 * 32 * 128),
        ("add", "fp32_0d", 3 * 4, 2),
        ("softmax", "fp16_rows", 2 * 64 * 1000 * 2, 5 * 64 * 1000),
        ("softmax", "bf16_heads", 2 * 2 * 8 * 64 * 64 * 2, 5 * 2 * 8 * 64 * 64),
        ("rmsnorm", "fp16_wide", (2 * 8 * 8192 + 8192) * 2, 4 * 8 * 8192),
        ("rmsnorm", "fp32_0d", 3 * 4, 4),
        # m = 32, k = 256, n = 512: x, weight, bias and output.
        ("matmul_gelu", "fp16_tokens", (32 * 256 + 512 * 256 + 512 + 32 * 512) * 2, 2 * 32 * 512 * 256),
        # m = 2 * 64, k = 128, n = 256.
        ("matmul_gelu", "fp32_batch", (128 * 128 + 256 * 128 + 256 + 128 * 256) * 4, 2 * 128 * 256 * 128),
        # m = 64, k = 128, n = 256, and a scale of one number.
        ("matmul_gelu", "fp32_0d_scale", (64 * 128 + 256 * 128 + 256 + 64 * 256 + 1) * 4, 2 * 64 * 256 * 128),
    ],
)
def test_shipped_operators_say_what_they_move_and_compute(name: str, case: str, nbytes: int, flops: int) -> None:
    assert of(name, case) == Amounts(bytes=nbytes, flops=flops)


@pytest.mark.parametrize(
    ("case", "out_bytes", "nbytes", "flops"),
    [
        ("fp16_four", 64 * 128 * 2, (64 * 128 + 4 * 128 * 128 + 64 * 128) * 2 + 4 * 8, 2 * 64 * 128 * 128),
        ("fp16_to_fp32", 64 * 128 * 4, (64 * 128 + 4 * 128 * 128) * 2 + 4 * 8 + 64 * 128 * 4, 2 * 64 * 128 * 128),
        ("bf16_bias", 64 * 128 * 2, (2 * 64 * 128 + 4 * 128 * 128 + 128) * 2 + 4 * 8, 2 * 64 * 128 * 128),
        ("fp32_sixteen", 256 * 64 * 4, (2 * 256 * 64 + 16 * 64 * 64 + 64) * 4 + 16 * 8, 2 * 256 * 64 * 64),
    ],
)
def test_outputs_count_once_their_size_is_known(case: str, out_bytes: int, nbytes: int, flops: int) -> None:
    assert of("grouped", case, out_bytes) == Amounts(bytes=nbytes, flops=flops)
    assert of("grouped", case) == Amounts(bytes=None, flops=flops)


@pytest.mark.parametrize("name", ["add", "softmax", "rmsnorm", "matmul_gelu", "grouped"])
def test_shipped_expressions_fit_every_case(name: str) -> None:
    operator = shipped(name)
    assert operator.work is not None and operator.work.bytes and operator.work.flops
    verify(operator, range(len(operator.cases)))


def test_nothing_said_is_nothing_known() -> None:
    facts = {"x": 1}
    assert amounts(None, facts) == amounts(Work(bytes="x"), None) == Amounts(bytes=None, flops=None)
    assert amounts(Work(flops="x"), facts) == Amounts(bytes=None, flops=1.0)


def operator(work: Work | None, *shapes: tuple[int, ...]) -> Operator:
    side = Implementation(file=Path("model.py"), cls="Model")
    cases = tuple(
        Case(
            index=index,
            name=f"case{index}",
            shape_label="?",
            dtype_label="?",
            inputs=(TensorInput(name="x", dtype="float16", shape=shape),),
        )
        for index, shape in enumerate(shapes)
    )
    return Operator(
        name="toy", folder=Path("toy"), reference=side, candidate=side, cases=cases, cases_file=None, origin="jsonl:x",
        work=work,
    )  # fmt: skip


def test_a_fault_in_one_case_is_told_before_anything_runs() -> None:
    toy = operator(Work(bytes="2 * x.shape[1]"), (4, 8), (4,))
    with pytest.raises(ConfigError) as caught:
        verify(toy, (0, 1))
    assert caught.value.message == "op.work.bytes, column 13: x.shape has 1 entries, and none at 1 (case case1)"


def test_a_case_that_does_not_run_is_not_looked_at() -> None:
    verify(operator(Work(bytes="2 * x.shape[1]"), (4, 8), (4,)), (0,))


def test_both_keys_are_read() -> None:
    with pytest.raises(ConfigError, match=r"op\.work\.flops, column 1: there is no input 'y'"):
        verify(operator(Work(bytes="x.nbytes + out.nbytes", flops="y"), (4,)), (0,))


def test_without_described_inputs_only_the_grammar_is_looked_at() -> None:
    bare = Case(index=0, name="case0", shape_label="?", dtype_label="?")
    side = Implementation(file=Path("model.py"), cls="Model")
    fields = {"name": "toy", "folder": Path("toy"), "reference": side, "candidate": side, "cases": (bare,)}
    verify(Operator(**fields, cases_file=None, origin="provider", work=Work(bytes="2 * anything.nbytes")), (0,))
    with pytest.raises(ConfigError, match="ends too early"):
        verify(Operator(**fields, cases_file=None, origin="provider", work=Work(bytes="2 *")), (0,))
