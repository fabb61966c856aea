"""What a session answers, request by request, in this process."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import torch

from msprun.worker.channel import plain
from msprun.worker.failures import failure
from msprun.worker.serve import answer

MODEL = """
class Model(nn.Module):
    def forward(self, x, y):
        return x + y
"""
NEW = MODEL.replace("Model", "ModelNew")
GROUPS = (
    MODEL
    + """
def get_input_groups():
    half = torch.ones(4).half()
    return [[torch.ones(2, 3), torch.ones(3)], {"y": half, "x": half.clone()}, (torch.ones(()), 2)]
"""
)


def tensor(name: str, shape: list[int], dtype: str = "float32") -> dict[str, Any]:
    return {"type": "tensor", "name": name, "dtype": dtype, "shape": shape}


def test_describe_counts_groups_and_labels_them(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    assert bench.session([]).describe() == {
        "cases": [
            {"name": "case0", "shape": "[2, 3]", "dtype": "float32"},
            {"name": "case1", "shape": "[4]", "dtype": "float16"},
            {"name": "case2", "shape": "[]", "dtype": "float32"},
        ],
        "notes": [],
    }


def test_a_flat_get_inputs_is_one_case(bench: Any) -> None:
    bench.write(MODEL + "def get_inputs():\n    return [torch.ones(2), torch.ones(2)]\n", NEW)
    session = bench.session()
    assert len(session.describe()["cases"]) == 1
    session.load(0)
    session.construct(0, "candidate")
    assert session.first(0, "candidate")["output_bytes"] == 8


def test_a_grouped_get_inputs_has_a_case_each(bench: Any) -> None:
    bench.write(MODEL + "def get_inputs():\n    return [[torch.ones(2), 1], (torch.ones(3), 1)]\n", NEW)
    assert [case["shape"] for case in bench.session([]).describe()["cases"]] == ["[2]", "[3]"]


def test_no_provider_and_no_cases_file_is_said(bench: Any, refused: Any) -> None:
    bench.write(MODEL, NEW)
    session = bench.session([])
    error = refused(session.describe)
    assert (error.stage, error.side) == ("inputs", "reference")
    words = "model.py has neither get_input_groups nor get_inputs, and no cases file describes the inputs"
    assert failure(error, bench.operator)["message"] == words


def test_a_group_of_keywords_is_called_by_name(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    session = bench.session([None] * 3)
    loaded = session.load(1)
    assert loaded == {
        "shape": "[4]", "dtype": "float16", "empty": False, "bytes": 16, "inputs_from": "provider", "notes": [],
        "arguments": [["y", {"shape": [4], "dtype": "float16"}], ["x", {"shape": [4], "dtype": "float16"}]],
    }  # fmt: skip
    session.construct(1, "reference")
    assert session.cases[1].sides["reference"].call.kwargs.keys() == {"x", "y"}


def test_the_provider_is_preferred_and_called_once_with_the_seed(bench: Any) -> None:
    provider = """
calls = []
torch.rand(7)
def get_input_groups():
    calls.append(1)
    return [[torch.rand(3), torch.rand(3)] for _ in range(2)]
"""
    bench.write(MODEL + provider, NEW)
    session = bench.session([[tensor("x", [9]), tensor("y", [9])]] * 2)
    assert session.load(0)["shape"] == "[3]" and session.load(1)["inputs_from"] == "provider"
    assert sys.modules["model"].calls == [1]
    torch.manual_seed(0)
    assert torch.equal(session.cases[0].tensors[0][1], torch.rand(3))


def test_groups_that_do_not_fit_are_made_again(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msprun.worker.provider.free_bytes", lambda: 4)
    provider = "calls = []\ndef get_inputs():\n    calls.append(1)\n    return [[torch.rand(3), 1]] * 2\n"
    bench.write(MODEL + provider, NEW)
    session = bench.session([None, None])
    session.load(0)
    session.load(1)
    assert sys.modules["model"].calls == [1, 1]


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("raise ValueError('no data')", "ValueError: no data (model.py:9 in get_input_groups)"),
        ("return []", "get_input_groups has 0 groups, so none for case 0"),
        ("return 3", "get_input_groups must return a list, not int"),
        ("raise SystemExit(2)", "SystemExit: 2 (model.py:9 in get_input_groups)"),
    ],
)
def test_a_provider_that_fails_is_noted_and_the_descriptors_serve(bench: Any, provider: str, words: str) -> None:
    bench.write(MODEL + f"def get_input_groups():\n    {provider}\n", NEW)
    loaded = bench.session([[tensor("x", [9]), tensor("y", [9])]]).load(0)
    assert loaded["inputs_from"] == "cases_file" and loaded["shape"] == "[9]"
    assert loaded["notes"] == [{"code": "provider_failed", "figures": {"error": words}}]


def test_a_provider_that_fails_without_descriptors_is_a_failure(bench: Any, refused: Any) -> None:
    bench.write(MODEL + "def get_inputs():\n    return []\n", NEW)
    assert refused(bench.session().load, 0).stage == "inputs"


def test_a_reference_that_cannot_be_imported_leaves_the_candidate_its_case(bench: Any, refused: Any) -> None:
    bench.write("calls = open('count', 'a').write('x')\nimport nothing_of_this_name\n", NEW)
    session = bench.session([[tensor("x", [2]), tensor("y", [2])]] * 2)
    for index in (0, 1):
        assert session.load(index)["notes"][0]["code"] == "provider_failed"
        error = refused(session.construct, index, "reference")
        told = failure(error, bench.operator)
        assert (told["stage"], told["side"], told["kind"]) == ("import", "reference", "exception")
        assert told["message"] == "ModuleNotFoundError: No module named 'nothing_of_this_name' (model.py:5 in <module>)"
        session.construct(index, "candidate")
        assert session.first(index, "candidate")["output_bytes"] == 8
    with open("count") as file:
        assert file.read() == "x"


def test_a_missing_class_names_those_that_are_there(bench: Any, refused: Any) -> None:
    bench.write(GROUPS, NEW.replace("ModelNew", "ModelNow") + "class Other: pass\n")
    session = bench.session([None] * 3)
    session.load(0)
    error = refused(session.construct, 0, "candidate")
    assert error.stage == "import"
    assert str(error.error) == "model_new_ascendc.py has no class ModelNew; it has ModelNow, Other"


def test_files_know_their_place_and_find_their_neighbours(bench: Any) -> None:
    (bench.operator / "kernel" / "build").mkdir(parents=True)
    (bench.operator / "kernel" / "build" / "compiled_here.py").write_text("one = 1")
    extra = "import os\nimport compiled_here\nfrom model import Model\nassert os.path.exists(__file__)\n"
    bench.write(GROUPS, extra + NEW)
    session = bench.session([None] * 3)
    session.load(0)
    session.construct(0, "candidate")
    assert sys.modules["model_new_ascendc"].Model is sys.modules["model"].Model


INIT = """
class Model(nn.Module):
    def __init__(self, size, bias=0):
        super().__init__()
        self.size, self.bias = size, bias
    def forward(self, x):
        return x * self.size + self.bias
def get_inputs():
    return [[torch.ones(2)], [torch.ones(2)]]
"""
INIT_NEW = INIT.split("def get_inputs")[0].replace("Model", "ModelNew")


@pytest.mark.parametrize(
    ("made", "case", "expected"),
    [
        ("[[3], [4]]", 1, (4, 0)),
        ("[{'size': 3, 'bias': 1}, [4]]", 0, (3, 1)),
        ("[32, 64]", 1, (32, 64)),
        ("(32, 64)", 0, (32, 64)),
        ("{'size': 5}", 0, (5, 0)),
    ],
)
def test_constructor_arguments_of_the_reference_serve_both(bench: Any, made: str, case: int, expected: Any) -> None:
    bench.write(INIT + f"def get_init_inputs():\n    return {made}\n", INIT_NEW)
    session = bench.session([None] * 2)
    session.load(case)
    for side in ("reference", "candidate"):
        session.construct(case, side)
        model = session.cases[case].sides[side].model
        assert (model.size, model.bias) == expected and not model.training


def test_a_candidates_own_constructor_arguments_win(bench: Any) -> None:
    given = "def get_init_inputs():\n    return [%d]\n"
    bench.write(INIT + given % 3, INIT_NEW + given % 9)
    session = bench.session([None] * 2)
    session.load(0)
    session.construct(0, "candidate")
    assert session.cases[0].sides["candidate"].model.size == 9


@pytest.mark.parametrize("made", ["[]", "[1, 2, 3]", "{'nope': 1}", "1 / 0"])
def test_constructor_arguments_that_do_not_fit_fail_that_side(bench: Any, refused: Any, made: str) -> None:
    bench.write(INIT + f"def get_init_inputs():\n    return {made}\n", INIT_NEW)
    session = bench.session([None] * 2)
    session.load(0)
    error = refused(session.construct, 0, "reference")
    assert (error.stage, error.side) == ("construct", "reference")


def test_weights_that_have_no_twin_are_noted(bench: Any) -> None:
    layer = "self.%s = nn.Linear(2, %d)"
    model = INIT.replace("size, bias=0", "").replace("self.size, self.bias = size, bias", layer % ("a", 2))
    new = INIT_NEW.replace("size, bias=0", "").replace("self.size, self.bias = size, bias", layer % ("b", 3))
    bench.write(model, new)
    session = bench.session([None] * 2)
    session.load(0)
    assert session.construct(0, "reference")["notes"] == []
    assert session.construct(0, "candidate")["notes"] == [
        {"code": "weights_differ", "figures": {"missing": ["b.bias", "b.weight"], "unexpected": ["a.bias", "a.weight"]}}
    ]


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("raise ValueError('two\\nlines')", "exception", "ValueError: two lines (model_new_ascendc.py:7 in forward)"),
        ("raise SystemExit(3)", "exit", "SystemExit: 3 (model_new_ascendc.py:7 in forward)"),
        ("raise KeyboardInterrupt", "exception", "KeyboardInterrupt (model_new_ascendc.py:7 in forward)"),
        ("raise MemoryError", "out_of_memory", "MemoryError (model_new_ascendc.py:7 in forward)"),
        ("raise RuntimeError('CUDA out of memory')", "out_of_memory", "RuntimeError: CUDA out of memory"),
        ("return torch.ones(2) @ torch.ones(3)", "exception", "RuntimeError: inconsistent tensor size"),
    ],
)
def test_whatever_forward_raises_becomes_a_failure_and_the_session_goes_on(
    bench: Any, body: str, kind: str, words: str
) -> None:
    bench.write(GROUPS, NEW.replace("return x + y", body))
    session = bench.session([None] * 3)
    session.load(0)
    session.construct(0, "candidate")
    answered = answer(session, {"do": "first", "case": 0, "side": "candidate"})
    told = answered["failure"]
    assert answered["ok"] is False
    assert (told["stage"], told["side"], told["kind"]) == ("first_call", "candidate", kind)
    assert told["message"].startswith(words) and "\n" not in told["message"]
    assert "Traceback" in told["trace"]
    assert answer(session, {"do": "probe"}) == {"ok": True}
    assert (bench.folder / "mark").read_bytes() == b"-"


def test_the_mark_names_the_side_that_runs(bench: Any) -> None:
    look = f"assert open({str(bench.folder / 'mark')!r}).read() == %r\n        return x + y"
    bench.write(GROUPS.replace("return x + y", look % "r"), NEW.replace("return x + y", look % "c"))
    session = bench.session([None] * 3)
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
    session.time(0, [["reference", 1], ["candidate", 2]])


def test_blocks_are_timed_in_order_and_count_their_calls(bench: Any) -> None:
    counted = "calls = []\n" + NEW.replace("return x + y", "calls.append('c'); return x + y")
    bench.write(GROUPS.replace("return x + y", "import time; time.sleep(0.01); return x + y"), counted)
    session = bench.session([None] * 3)
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
    elapsed = session.time(0, [["reference", 2], ["candidate", 5], ["candidate", 1], ["reference", 1]])["elapsed_ns"]
    assert len(elapsed) == 4 and elapsed[0] >= 20e6 and elapsed[3] >= 10e6 and all(isinstance(e, int) for e in elapsed)
    assert len(sys.modules["model_new_ascendc"].calls) == 1 + 5 + 1


def test_timing_an_in_place_operator_begins_each_call_with_the_same_inputs(bench: Any) -> None:
    """flagos-ai/FlagGems#1227: cloning inputs costs time, not cloning them changes them on each call."""
    seen = "seen = []\n" + NEW.replace("return x + y", "seen.append(x.sum().item()); return x.add_(y)")
    bench.write(GROUPS, seen)
    session = bench.session([None] * 3)
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
    session.time(0, [["candidate", 3], ["reference", 1], ["candidate", 1]])
    session.breakdown(0, "candidate")
    assert sys.modules["model_new_ascendc"].seen == [6.0] * 5 + [6.0, 6.0, 4.5]  # the last has other contents
    assert session.cases[0].tensors[0][1].sum().item() == 6


def test_a_failure_while_timing_names_its_side(bench: Any) -> None:
    late = "calls = []\n" + NEW.replace("return x + y", "calls.append(1); return [0, 1][len(calls) - 1] and x")
    bench.write(GROUPS, late)
    session = bench.session([None] * 3, {"rule": "none"})
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
    request = {"do": "time", "case": 0, "blocks": [["reference", 1], ["candidate", 5]]}
    told = answer(session, request)["failure"]
    assert (told["stage"], told["side"]) == ("timing", "candidate") and told["message"].startswith("IndexError")


def test_the_breakdown_counts_outermost_operators(bench: Any) -> None:
    body = "return torch.nn.functional.layer_norm(x, (3,)) + y + y"
    bench.write(GROUPS, NEW.replace("return x + y", body))
    session = bench.session([None] * 3)
    session.load(0)
    session.construct(0, "candidate")
    session.first(0, "candidate")
    found = session.breakdown(0, "candidate")
    calls = {row["name"]: row["calls"] for row in found["operators"]}
    assert calls == {"aten::layer_norm": 1, "aten::add": 2}
    assert 0 < found["operators_us"] <= found["wall_us"]
    assert found["operators_us"] == pytest.approx(sum(row["duration_us"] for row in found["operators"]))


def test_without_a_check_nothing_is_stored(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    session = bench.session([None] * 3, {"rule": "none"})
    session.load(0)
    session.construct(0, "reference")
    answered = session.first(0, "reference")
    assert answered["hash"] is None and answered["output_bytes"] == 24 and answered["first_us"] > 0
    assert not (bench.folder / "outputs").exists()


def test_one_sided_sessions_store_nothing_either(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    session = bench.session([None] * 3, sides=["reference"])
    session.load(0)
    session.construct(0, "reference")
    assert session.first(0, "reference")["hash"] is None


def test_an_empty_case_says_so(bench: Any) -> None:
    bench.write(MODEL, NEW)
    session = bench.session([[tensor("x", [0, 3]), tensor("y", [3])]])
    loaded = session.load(0)
    assert loaded["empty"] is True and loaded["bytes"] == 12


def test_release_forgets_tensors_and_stored_outputs(bench: Any, refused: Any) -> None:
    bench.write(GROUPS, NEW)
    session = bench.session([None] * 3)
    session.load(0)
    session.construct(0, "reference")
    session.first(0, "reference")
    assert list((bench.folder / "outputs").iterdir())
    session.release(0)
    assert not list((bench.folder / "outputs").iterdir())
    assert str(refused(session.first, 0, "reference").error) == "case 0 is not loaded"


def test_an_unknown_request_is_answered(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    told = answer(bench.session([]), {"do": "dance"})
    assert told["ok"] is False and "dance" in told["failure"]["message"]


def test_answers_are_strict_json() -> None:
    inf = float("inf")
    value = {"a": float("nan"), 1: [inf, -inf, torch.tensor(2.5), (1, True, None)], "c": torch.ones(3)}
    made = json.loads(json.dumps(plain(value), allow_nan=False))
    assert made["a"] == "nan" and made["1"] == ["inf", "-inf", 2.5, [1, True, None]] and made["c"].startswith("tensor(")


def test_the_environment_is_told(bench: Any) -> None:
    bench.write(GROUPS, NEW)
    told = bench.session([]).environment()
    assert (told["torch"], told["threads"], told["device"]) == (torch.__version__, 1, "cpu")
    assert told["executable"] == sys.executable
