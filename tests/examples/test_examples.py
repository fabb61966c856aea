"""The operators that travel with msprun: whole, and right."""

import importlib.util
import math

import pytest

from msprun.model.case import ScalarInput, TensorInput, TensorListInput
from msprun.resources import data_folder
from msprun.schema import Op, OpCheck, OpWork, Side
from msprun.source.folder import load_operator

NAMES = ("add", "softmax", "rmsnorm", "matmul_gelu", "grouped")
# Largest mean relative error that counts as right, and the size below which a value is too small for it.
THRESHOLDS = {"float16": (2**-10, 2**-11), "bfloat16": (2**-7, 2**-8), "float32": (2**-13, 2**-14)}


def loaded(name):
    op = Op(
        dir=str(data_folder("examples") / name),
        name=name,
        reference=Side(file="model.py", cls="Model", env={}),
        candidate=Side(file="model_new_ascendc.py", cls="ModelNew", env={}),
        cases_file=None,
        build=None,
        check=OpCheck(rtol=None, atol=None, threshold=None, compare=None),
        work=OpWork(bytes=None, flops=None),
    )
    return load_operator(op, compile_sources=True)


def module_of(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensors(case):
    return [entry for entry in case.inputs if isinstance(entry, TensorInput)]


def test_every_folder_is_listed_here_and_has_a_config():
    folders = {path.parent.name for path in data_folder("examples").glob("*/model.py")}
    configs = {path.stem for path in data_folder("conf").glob("op/*.yaml")}
    assert folders == set(NAMES) and folders <= configs


@pytest.mark.parametrize("name", NAMES)
def test_config_is_a_description_a_folder_and_its_work(name):
    first, *rest = (data_folder("conf") / "op" / f"{name}.yaml").read_text().splitlines()
    keys = [line.partition(":")[0] for line in rest if not line.startswith("# ")]
    assert first.startswith("# ") and rest[:2] == [f"dir: examples/{name}", f"name: {name}"]
    assert keys == ["dir", "name", "work", "  bytes", "  flops"]


@pytest.mark.parametrize("name", NAMES)
def test_cases_cover_three_dtypes_a_0d_and_an_empty_tensor(name):
    operator = loaded(name)
    assert len(operator.cases) >= 6 and operator.origin == f"jsonl:{name}_perf_cases.jsonl"
    dtypes = {entry.dtype for case in operator.cases for entry in tensors(case)}
    assert {"float16", "bfloat16", "float32"} <= dtypes
    assert any(entry.shape == () for case in operator.cases for entry in tensors(case))
    assert sum(case.is_empty for case in operator.cases) == 1


def test_grouped_shows_every_kind_of_input():
    inputs = [entry for case in loaded("grouped").cases for entry in case.inputs]
    assert any(isinstance(entry, TensorListInput) for entry in inputs)
    assert any(isinstance(entry, TensorInput) and entry.shape is None for entry in inputs)
    assert any(isinstance(entry, TensorInput) and entry.fill == "offsets" for entry in inputs)
    kinds = {entry.kind for entry in inputs if isinstance(entry, ScalarInput)}
    assert kinds == {"float", "dtype", "none"}


def made(torch, entry):
    """One argument from its description."""
    if isinstance(entry, ScalarInput):
        return entry.value
    if entry.shape is None:
        return None
    low, high = (entry.low, entry.high) if entry.fill == "uniform" else (-2.0, 2.0)
    return (torch.rand(entry.shape) * (high - low) + low).to(getattr(torch, entry.dtype))


def sides(operator, case):
    """Reference and candidate with equal weights, and the arguments of the case."""
    import torch

    reference, candidate = module_of(operator.reference.file), module_of(operator.candidate.file)
    words = reference.get_init_inputs()[case.index] if hasattr(reference, "get_init_inputs") else {}
    one, other = reference.Model(**words).eval(), candidate.ModelNew(**words).eval()
    other.load_state_dict(one.state_dict())
    if hasattr(reference, "get_input_groups"):
        return one, other, reference.get_input_groups()[case.index]
    return one, other, [made(torch, entry) for entry in case.inputs]


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_candidate_agrees_with_its_reference_in_every_case(name):
    torch = pytest.importorskip("torch")
    operator = loaded(name)
    for case in operator.cases:
        torch.manual_seed(case.index)
        reference, candidate, arguments = sides(operator, case)
        with torch.no_grad():
            golden, output = reference(*arguments), candidate(*arguments)
        assert (output.dtype, output.shape) == (golden.dtype, golden.shape), case.name
        assert output.isfinite().all() and not any(output is argument for argument in arguments)
        threshold, small = THRESHOLDS[str(golden.dtype).removeprefix("torch.")]
        counted = golden.abs() >= small
        error = ((output.double() - golden.double()).abs() / (golden.double().abs() + 1e-7))[counted]
        mean, largest = (error.mean().item(), error.max().item()) if error.numel() else (0.0, 0.0)
        assert mean < threshold and largest < 10 * threshold, (case.name, mean, largest)


@pytest.mark.torch
def test_softmax_reference_is_right_for_numbers_known_by_hand():
    torch = pytest.importorskip("torch")
    reference = module_of(loaded("softmax").reference.file).Model()
    output = reference(torch.tensor([0.0, math.log(3.0)]))
    assert output.tolist() == pytest.approx([0.25, 0.75])


@pytest.mark.torch
def test_groups_of_the_provider_cover_all_rows():
    pytest.importorskip("torch")
    for arguments in module_of(loaded("grouped").reference.file).get_input_groups():
        x, weights, ends = arguments[0], arguments[1], arguments[2].tolist()
        assert ends == sorted(ends) and ends[-1] == x.shape[0] and len(ends) == len(weights)


@pytest.mark.torch
def test_candidate_takes_a_compiled_extension_from_kernel_build(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    build = tmp_path / "kernel" / "build"
    build.mkdir(parents=True)
    (build / "add_ext.cpython.so").write_bytes(b"")
    (build / "add_ext.py").write_text("def scaled_add(x, y, alpha):\n    return 'compiled'\n")
    copy = tmp_path / "model_new_ascendc.py"
    copy.write_bytes(loaded("add").candidate.file.read_bytes())
    monkeypatch.syspath_prepend(build)
    assert module_of(copy).ModelNew()(1, 2) == "compiled"
