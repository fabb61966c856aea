"""Real workers: started by their wrapper, spoken to over a socket, or run by hand."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from msprun.worker import protocol

MODEL = """
class Model(nn.Module):
    def forward(self, x, y):
        return x + y
def get_input_groups():
    return [[torch.ones(2, 3), torch.ones(3)]] * 3
"""
NEW = MODEL.split("def get_input_groups")[0].replace("Model", "ModelNew")


def prepare(talk: Any, side: str, case: int = 0) -> None:
    assert talk.ask("load", case=case)["ok"]
    assert talk.ask("construct", case=case, side=side)["ok"]


@pytest.mark.torch
def test_a_whole_conversation_survives_prints_and_is_mirrored(bench: Any, talk: Any) -> None:
    noisy = NEW.replace("return x + y", 'print("{}"); import os; os.write(1, b"raw noise\\n"); return x + y')
    bench.write("print('import noise')\n" + MODEL, noisy)
    one = talk(cases=[None] * 3)
    environment = one.hello["environment"]
    assert one.hello["id"] == 0 and environment["pid"] == one.child.pid and environment["device"] == "cpu"
    assert [case["shape"] for case in one.ask("describe")["cases"]] == ["[2, 3]"] * 3
    prepare(one, "reference")
    digest = one.ask("first", case=0, side="reference")["hash"]
    assert one.ask("construct", case=0, side="candidate")["ok"]
    assert one.ask("first", case=0, side="candidate")["first_us"] > 0
    for do in ("check", "attack", "recheck"):
        assert one.ask(do, case=0, side="candidate", rule=None, hash=digest)["state"] == "correct"
    assert one.ask("cache_facts", case=0)["bytes"] == 36
    assert len(one.ask("time", case=0, blocks=[["reference", 3], ["candidate", 1]])["elapsed_ns"]) == 2
    told = one.ask("breakdown", case=0, side="reference")
    assert told["operators"][0]["name"] == "aten::add" and told["kernels_vary"] is False
    assert one.ask("probe")["ok"] and one.ask("release", case=0)["ok"]
    one.send("bye")
    assert one.answer() is None and one.child.wait(10) == 0
    mirrored = [json.loads(line) for line in one.log("results.jsonl").splitlines()]
    assert [message["id"] for message in mirrored] == list(range(one.number))
    assert one.log("stdout.log") == ""
    assert "import noise" in one.log("stderr.log") and "raw noise" in one.log("stderr.log")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("death", "code", "trace"),
    [
        ("print('last words'); import ctypes; ctypes.string_at(0)", -signal.SIGSEGV, "last words"),
        ("import os; os._exit(7)", 7, ""),
    ],
)
def test_a_death_closes_the_socket_and_leaves_the_mark(
    bench: Any, talk: Any, death: str, code: int, trace: str
) -> None:
    bench.write(MODEL, NEW.replace("return x + y", death))
    one = talk()
    prepare(one, "candidate")
    assert one.ask("first", case=0, side="candidate") is None
    assert one.child.wait(10) == code
    assert one.log("mark") == "c" and trace in one.log("stderr.log")
    assert ("Fatal Python error: Segmentation fault" in one.log("stderr.log")) is (code < 0)


@pytest.mark.torch
def test_exceptions_and_exits_are_answers_and_a_hang_says_where_it_is(bench: Any, talk: Any) -> None:
    body = "if len(x) == 2: raise SystemExit(5)\n        import time; time.sleep(100)"
    groups = MODEL.replace("* 3", "+ [[torch.ones(4), torch.ones(4)]]")
    bench.write(groups, NEW.replace("return x + y", body))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell's `&` does
    try:
        one = talk(cases=[None] * 2)
    finally:
        signal.signal(signal.SIGINT, before)
    prepare(one, "candidate")
    failure = one.ask("first", case=0, side="candidate")["failure"]
    assert (failure["kind"], failure["message"]) == ("exit", "SystemExit: 5 (model_new_ascendc.py:7 in forward)")
    assert one.ask("probe")["ok"]
    prepare(one, "candidate", 1)
    one.send("first", case=1, side="candidate")
    time.sleep(0.5)
    assert one.log("mark") == "c"
    one.child.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    assert 'model_new_ascendc.py", line 8 in forward' in one.log("stderr.log")
    assert one.child.poll() is None
    one.child.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in one.answer()["failure"]["message"]
    assert one.ask("probe")["ok"]


@pytest.mark.torch
def test_a_worker_ends_when_its_parent_goes_or_speaks_nonsense(bench: Any, talk: Any) -> None:
    bench.write(MODEL, NEW)
    one = talk()
    one.connection.sendall(protocol.encode({"nonce": "another", "id": 1, "do": "probe"}))
    assert one.answer() is None and one.child.wait(10) == 0
    assert "the channel broke" in one.log("stderr.log")


@pytest.mark.torch
def test_the_wrapper_runs_by_hand(bench: Any, by_hand: Any) -> None:
    body = "if len(x) == 4: raise ValueError('four')\n        return x - y if len(x) == 5 else x + y"
    groups = MODEL.replace("* 3", "+ [[torch.ones(4), torch.ones(4)], [torch.ones(5), torch.ones(5)]]")
    bench.write(groups, NEW.replace("return x + y", body))
    done = by_hand(cases=[None] * 3)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("case 0 [2, 3] float32: reference ") and lines[0].endswith("us, correct")
    assert "candidate failed at first_call: ValueError: four (model_new_ascendc.py:" in lines[1]
    assert "reference" in lines[1] and lines[2].endswith("us, incorrect")


@pytest.mark.torch
def test_an_interpreter_without_torch_says_so(bench: Any, talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.operator / "torch").mkdir()
    (bench.operator / "torch" / "__init__.py").write_text("raise ImportError('no torch here')")
    monkeypatch.setenv("PYTHONPATH", str(bench.operator))
    one = talk()
    assert one.hello["ok"] is False and one.hello["failure"]["stage"] == "launch"
    assert one.hello["failure"]["message"].startswith("ImportError: no torch here")
    assert one.child.wait(10) == 0
