"""The kind of device that `device=auto` means, by files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun import device
from msprun.device import inventory


@pytest.fixture(autouse=True)
def empty_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "dev").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(device, "_DEV", tmp_path / "dev")
    monkeypatch.setattr(inventory, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def test_a_host_without_accelerators_is_its_processor() -> None:
    assert device.detect() == ("cpu", "no accelerator's device file in /dev")


def test_a_device_file_of_an_npu_goes_before_all(empty_host: Path) -> None:
    for name in ("nvidia0", "davinci10", "davinci9", "davinci_manager"):
        (empty_host / "dev" / name).touch()
    assert device.accelerators() == tuple(str(empty_host / "dev" / n) for n in ("davinci9", "davinci10", "nvidia0"))
    assert device.detect() == ("npu", f"{empty_host}/dev/davinci9 is here")


def test_the_tool_of_npus_is_enough(empty_host: Path) -> None:
    tool = empty_host / "bin" / "npu-smi"
    tool.write_text("#!/bin/sh\n")
    assert device.detect()[0] == "cpu"
    tool.chmod(0o755)
    assert device.detect() == ("npu", f"{tool} is here")


def test_torch_npu_without_an_npu_is_not_enough(empty_host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = empty_host / "site" / "torch_npu"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('never imported')")
    monkeypatch.syspath_prepend(empty_host / "site")
    kind, why = device.detect()
    assert kind == "cpu" and "torch_npu is installed, but no NPU is here" in why
