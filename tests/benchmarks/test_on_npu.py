"""Rows 2 and 3: what is asked of the emulated NPU, what is counted, and what is said where there is none."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import __main__ as entry
from benchmarks import emulation, on_npu
from benchmarks.place import Broken, Place
from tests.cann import need_cann

RECORD = f"""#!{sys.executable}
import json, os, pathlib, sys
with open("words.jsonl", "a") as file:
    file.write(json.dumps(sys.argv) + "\\n")
"""
MSPROF = """
exports = pathlib.Path(sys.argv[1].partition("=")[2], "PROF_1", "mindstudio_profiler_output")
exports.mkdir(parents=True)
(exports / "op_summary_1.csv").touch()
"""
MSPRUN = """
run = pathlib.Path("runs/1")
count = 1 if "cases=[0]" in sys.argv else 20
python = "/usr/bin/python /run/wrapper.py"
for number, command in enumerate([python, "msprof --output=. " + python, "/opt/msprof --output=. " + python]):
    (run / "sessions" / str(number)).mkdir(parents=True)
    (run / "sessions" / str(number) / "command.txt").write_text(command)
rows = [{"ref_us": 1.0, "asc_us": 1.0, "correctness": {"state": "correct"}}] * count
(run / "result.json").write_text(json.dumps({"per_case": rows, "warmup": 3, "repeats": 1}))
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Place]:
    """A place whose Python, msprun and msprof are stubs, in an environment that is told from others."""

    def placed(msprun: str = MSPRUN, msprof: str = MSPROF) -> Place:
        for name, body in (("python", ""), ("msprun", msprun), ("msprof", msprof)):
            (tmp_path / name).write_text(RECORD + body)
            (tmp_path / name).chmod(0o755)
        folder = tmp_path / "place"
        folder.mkdir()
        made = Place(folder, (str(tmp_path / "python"),), (str(tmp_path / "msprun"),))
        emulated = {**made.environment, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        monkeypatch.setattr(emulation, "environment", lambda place: emulated)
        return made

    return placed


def words(place: Place) -> list[list[str]]:
    lines = [json.loads(line) for line in (place.folder / "words.jsonl").read_text().splitlines()]
    return [[Path(program).name, *more] for program, *more in lines]


@pytest.mark.process
def test_all_make_the_calls_of_the_same_cases(make) -> None:
    place = make()
    for work in on_npu.contenders(place).values():
        assert work(0) > 0
    start, bare, check, quick, twenty = words(place)
    lease = f"lease.dir={place.folder / 'lease'}"
    assert start == ["python", "-c", "import torch, torch_npu; torch.npu.set_device(0)"]
    assert bare[0] == "msprof" and bare[1] == f"--output={place.folder / 'bare_msprof'}"
    assert bare[6:] == [*place.python, bare[7], str(place.operator), "3", "1", "both", "0", "npu"]
    assert Path(bare[7]).name == "bare.py"
    assert check == ["msprun", "mode=check", "op=./gelu_norm", "device=npu", "cases=[0]", lease]
    assert twenty == ["msprun", "mode=quick", "op=./gelu_norm", "device=npu", "warmup=3", "repeats=1", lease]
    assert quick == [*twenty[:-1], "cases=[0]", lease]


def test_the_bare_call_collects_as_msprun_does() -> None:
    from msprun.profiler.msprof import Msprof

    command = Msprof().command(Path("python"), Path("here/wrapper.py"))
    assert command[2:-2] == on_npu.COLLECT


def test_what_is_allowed_is_reckoned_round_by_round() -> None:
    seconds = {"npu msprof": (10.0, 8.0), "npu check": (4.0, 5.0), "npu start": (1.0, 1.0)}
    found = on_npu.allowances(seconds)
    assert found["1.3 c + check"] == pytest.approx((17.0, 15.4))
    assert found["2 c + 20 s + check"] == pytest.approx((44.0, 41.0))


@pytest.mark.process
def test_processes_of_a_run_are_counted_by_what_starts_them(make) -> None:
    place = make()
    for number in range(2):
        on_npu.counted(place)["npu 20 cases"](number)
    assert on_npu.counts(place) == {"npu sessions": (2, 2), "npu check workers": (1, 1)}


@pytest.mark.process
def test_what_was_not_done_is_no_figure(make) -> None:
    place = make(MSPRUN.replace('"correct"', '"wrong"').replace("else 20", "else 19"), msprof="")
    with pytest.raises(Broken, match="left no op_summary"):
        on_npu.bare(place)
    with pytest.raises(Broken, match="check of one case says: wrong"):
        on_npu.check(place)
    with pytest.raises(Broken, match="measured 19 cases"):
        on_npu.twenty(place)


@pytest.mark.process
def test_the_environment_is_the_fake_toolkit_and_nothing_of_the_users(tmp_path, monkeypatch) -> None:
    need_cann()
    for name in ("ASCEND_RT_VISIBLE_DEVICES", "MSPRUN_LANG", "FAKE_CANN_FAULT"):
        monkeypatch.setenv(name, "1")
    place = Place(tmp_path, ("python",), ("msprun",))
    found = emulation.environment(place)
    msprof = shutil.which("msprof", path=found["PATH"])
    assert msprof is not None and "fakes" in msprof
    python = shutil.which("python3", path=found["PATH"])
    assert python is not None and Path(python).parent == Path(sys.executable).parent
    assert found["FAKE_CANN_START_S"] == found["FAKE_CANN_EXPORT_S"] == "2.0"
    assert not {"ASCEND_RT_VISIBLE_DEVICES", "MSPRUN_LANG"} & set(found)
    assert found["FAKE_CANN_FAULT"] == ""
    fakes, own = found["PYTHONPATH"].split(os.pathsep)
    assert (Path(fakes) / "torch_npu").is_dir() and own == place.environment["PYTHONPATH"]
    assert emulation.as_worker(place).items() > found.items()


def test_a_host_without_a_compiler_says_so_and_fails_nothing(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(entry, "HERE", tmp_path)
    assert entry.main(["--rows", "2,3"]) == 0
    said = capsys.readouterr().out
    assert said.count("no C compiler (cc) is here") == 5
    assert said.count("not built") == 1
    assert "the host computes its operators" in said
