"""npu-smi found and run: the emulated one for real, and what can be in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msprun import process
from msprun.device import inventory as module
from msprun.device.inventory import device_files, find_tool, inventory, pulse
from msprun.device.npu import Npu
from tests.cann import Cann
from tests.device.hosts import request


@pytest.mark.process
@pytest.mark.parametrize(
    ("chip", "name", "physical", "lease", "total_mb"),
    [
        ("910B2", "Ascend910B2", 0, "npu0", 65536),
        ("A3", "Ascend910", 0, "npu0", 65536),
        ("310P3", "Ascend310P3", None, "npu0-0", 21527),
    ],
)
def test_the_emulated_tool_is_heard_and_understood(
    tmp_path: Path, chip: str, name: str, physical: int | None, lease: str, total_mb: int
) -> None:
    environ = Cann(tmp_path, chip=chip).environ
    npu = Npu()
    facts = npu.select(request(tmp_path / "leases"), environ)
    assert (facts.name, facts.physical, facts.lease, facts.health) == (name, physical, lease, "OK")
    use, now = npu.use(facts, environ), npu.pulse(facts, environ)
    assert use is not None and now is not None
    assert (use.processes, use.memory_total_mb) == ((), total_mb)
    assert now.clock_mhz is not None and now.rated_mhz is not None and 0 < now.clock_mhz <= now.rated_mhz


@pytest.mark.process
def test_a_tool_that_fails_is_no_answer_and_no_crash(tmp_path: Path) -> None:
    tool = tmp_path / "npu-smi"
    tool.write_text("#!/bin/sh\necho 'dcmi module initialize failed. ret is -8005' >&2\nexit 255\n")
    tool.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    found = inventory(process.capture, environ)
    assert (found.chips, found.code) == (None, "no_right")
    assert pulse(process.capture, environ, (0, 0)) is None
    tool.write_text("no program at all")
    assert inventory(process.capture, environ).code == "no_tool"
    assert pulse(process.capture, environ, (0, 0)) is None


@pytest.mark.process
def test_a_tool_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", 0.5)
    tool = tmp_path / "npu-smi"
    tool.write_text("#!/bin/sh\nsleep 600\n")
    tool.chmod(0o755)
    found = inventory(process.capture, {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (found.chips, found.code) == (None, "no_answer")


def test_the_tool_on_path_goes_before_that_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("path", "driver"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "npu-smi").touch(mode=0o755)
    monkeypatch.setattr(module, "PLACES", (str(tmp_path / "driver"),))
    assert find_tool({"PATH": f"/nowhere:{tmp_path}/path"}) == tmp_path / "path" / "npu-smi"
    assert find_tool({"PATH": "/nowhere"}) == tmp_path / "driver" / "npu-smi"
    monkeypatch.setattr(module, "PLACES", ())
    assert find_tool({"PATH": "/nowhere"}) is None


def test_device_files_are_counted_by_number(tmp_path: Path) -> None:
    for name in ("davinci2", "davinci10", "davinci_manager", "davinciX", "tty0"):
        (tmp_path / name).touch()
    assert device_files(tmp_path) == ("davinci2", "davinci10")
    assert device_files(tmp_path / "nowhere") == ()
