"""A worker's process that is started before its session is known."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from msprun import process, spare
from msprun.model.plan import Command

START = spare.start  # the fixtures put another in its place
SCRIPT = Path(spare.__file__).parent / "worker" / "spare.py"
WRAPPER = """
import os, sys, torch
if "LEASE" in os.environ:
    print(sum(os.path.samestat(os.stat(os.environ["LEASE"]), os.fstat(int(n))) for n in os.listdir("/proc/self/fd")
              if os.path.exists("/proc/self/fd/" + n)), os.environ.get("MASK"), os.environ.get("GONE"))
print(os.getpid(), torch.IS_STUB, sys.argv, sys.stdin.read() == "", flush=True)
print("to the log", file=sys.stderr)
sys.exit(5)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "torch.py").write_text("IS_STUB = True\n")
    return {"PYTHONPATH": str(tmp_path / "stub"), "PATH": "/usr/bin:/bin", "MSPRUN_PARENT": str(os.getpid())}


@pytest.fixture
def waiting(tmp_path: Path, env: dict[str, str]) -> Iterator[process.Spare]:
    made = process.Spare((sys.executable, str(SCRIPT)), env, tmp_path)
    yield made
    made.dismiss()


def _command(folder: Path, env: dict[str, str]) -> Command:
    (folder / "wrapper.py").write_text(WRAPPER)
    return Command(
        argv=(sys.executable, str(folder / "wrapper.py")), cwd=folder, env=tuple(env.items()),
        stdout=folder / "out", stderr=folder / "err",
    )  # fmt: skip


@pytest.mark.process
def test_it_becomes_the_session_that_fits(tmp_path: Path, env: dict[str, str], waiting: process.Spare) -> None:
    child = process.Child(_command(tmp_path, env), waiting)
    outcome = child.wait(30)
    assert outcome is not None
    assert outcome.returncode == 5
    argv = [str(tmp_path / "wrapper.py")]
    assert (tmp_path / "out").read_text() == f"{child.pid} True {argv} True\n"
    assert (tmp_path / "err").read_text() == "to the log\n"
    waiting.dismiss()


@pytest.mark.process
def test_it_takes_over_the_lease_and_what_is_known_late(tmp_path: Path, env: dict[str, str]) -> None:
    before = {**env, "LEASE": str(tmp_path / "lease"), "GONE": "1"}
    made = process.Spare((sys.executable, str(SCRIPT)), before, tmp_path, ("MASK", "GONE"))
    with (tmp_path / "lease").open("w") as lease:
        session = {name: value for name, value in before.items() if name != "GONE"} | {"MASK": "3"}
        child = process.Child(_command(tmp_path, session), made, (lease.fileno(),))
    assert child.pid == made.pid
    outcome = child.wait(30)
    assert outcome is not None and outcome.returncode == 5
    assert (tmp_path / "out").read_text().startswith("1 3 None\n")


@pytest.mark.process
def test_a_session_that_wants_another_environment_gets_a_process_of_its_own(
    tmp_path: Path, env: dict[str, str], waiting: process.Spare
) -> None:
    command = _command(tmp_path, {**env, "OMP_NUM_THREADS": "2"})
    child = process.Child(command, waiting)
    outcome = child.wait(30)
    assert outcome is not None
    assert outcome.returncode == 5
    assert waiting.become(command) is None


@pytest.mark.process
def test_a_spare_that_has_died_is_replaced(tmp_path: Path, env: dict[str, str], waiting: process.Spare) -> None:
    waiting.dismiss()
    outcome = process.Child(_command(tmp_path, env), waiting).wait(30)
    assert outcome is not None
    assert outcome.returncode == 5


@pytest.mark.process
def test_nobody_is_left_behind_when_it_is_not_needed(waiting: process.Spare) -> None:
    pid = waiting.pid
    waiting.dismiss()
    end = time.monotonic() + 10
    while time.monotonic() < end and Path(f"/proc/{pid}").exists():
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "words",
    [["dry_run=true"], ["--cfg", "job"], ["python=/x"], ["device.threads=2"], ["resume=runs/a"], ["device=cuda"]],
)
def test_no_process_is_started_where_another_or_none_is_needed(words: list[str]) -> None:
    assert START(["op=add", *words], {}) is None


@pytest.mark.process
def test_it_is_started_in_the_environment_that_plans_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started = {}
    monkeypatch.setattr(process, "Spare", lambda argv, env, cwd, _: started.update(argv=argv, env=env, cwd=cwd))
    START(["op=add", "device=cpu"], {"PATH": "/bin", "HOME": "/h"})
    assert started["argv"] == (sys.executable, str(SCRIPT))
    assert started["cwd"] == Path.cwd()
    assert started["env"]["OMP_NUM_THREADS"] == "1"
    assert started["env"]["HOME"] == "/h"
    assert started["env"]["PATH"].endswith(":/bin")


@pytest.mark.parametrize(
    ("words", "starts"),
    [(["device=npu"], True), (["device=npu", "device.id=1"], True), (["device=npu", "device.threads=2"], False)],
)
def test_on_an_npu_its_number_and_its_log_come_late(
    monkeypatch: pytest.MonkeyPatch, words: list[str], starts: bool
) -> None:
    started = []
    monkeypatch.setattr(process, "Spare", lambda argv, env, cwd, late: started.append((env, late)))
    monkeypatch.setattr(spare.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    START(words, {"PATH": "/bin", "ASCEND_RT_VISIBLE_DEVICES": "4"})
    assert len(started) == starts
    for env, late in started:
        assert set(late) == {
            "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_PROCESS_LOG_PATH", "TORCH_DEVICE_BACKEND_AUTOLOAD"
        }  # fmt: skip
        # torch_npu would load CANN before anybody knows the device.
        assert env["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"
        assert env["ASCEND_GLOBAL_LOG_LEVEL"] == "3"
