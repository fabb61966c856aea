"""Which Python runs the worker, found from files alone."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from msprun import interpreter
from msprun.errors import ConfigError, MachineError


def _environment(folder: Path, *, torch: bool) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    (folder / "bin" / "python3").symlink_to("python")
    if torch:
        package = folder / "lib" / "python3.11" / "site-packages" / "torch"
        package.mkdir(parents=True)
        (package / "version.py").touch()
    return python


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name == "torch" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


def test_this_interpreter_is_taken_when_it_has_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: object())
    assert interpreter.choose("auto", {}, ()) == (Path(sys.executable), "this one has torch")


@pytest.mark.usefixtures("without_torch")
def test_the_active_environment_goes_before_conda_and_path(tmp_path: Path) -> None:
    venv = _environment(tmp_path / "venv", torch=True)
    _environment(tmp_path / "conda", torch=True)
    environ = {"CONDA_PREFIX": str(tmp_path / "conda"), "VIRTUAL_ENV": str(tmp_path / "venv"), "PATH": ""}
    python, why = interpreter.choose("auto", environ, ())
    assert python == venv
    assert "$VIRTUAL_ENV" in why


@pytest.mark.usefixtures("without_torch")
def test_environments_without_torch_are_passed_over(tmp_path: Path) -> None:
    _environment(tmp_path / "venv", torch=False)
    _environment(tmp_path / "other", torch=True)
    environ = {"VIRTUAL_ENV": str(tmp_path / "venv"), "PATH": str(tmp_path / "other" / "bin")}
    python, why = interpreter.choose("auto", environ, ())
    assert python == tmp_path / "other" / "bin" / "python3"
    assert "PATH" in why


@pytest.mark.usefixtures("without_torch")
def test_without_torch_anywhere_the_extra_to_install_is_named() -> None:
    with pytest.raises(MachineError) as caught:
        interpreter.choose("auto", {"PATH": ""}, ())
    assert "torch is not installed" in caught.value.message
    assert "pip install 'msprun[cpu]'" in str(caught.value.hint)


@pytest.mark.usefixtures("without_torch")
def test_on_a_host_with_npus_no_extra_is_ever_advised() -> None:
    with pytest.raises(MachineError) as caught:
        interpreter.choose("auto", {"PATH": ""}, ("/dev/davinci0",))
    assert "pip" not in str(caught.value.hint)
    assert "CANN" in str(caught.value.hint)


def test_a_given_interpreter_must_be_there_and_have_torch(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no program"):
        interpreter.choose(str(tmp_path / "nowhere"), {}, ())
    bare = _environment(tmp_path / "bare", torch=False)
    with pytest.raises(MachineError, match="has no torch"):
        interpreter.choose(str(bare), {}, ())
    good = _environment(tmp_path / "good", torch=True)
    assert interpreter.choose(str(good), {}, ()) == (good, "given")


def test_an_npu_needs_an_interpreter_with_torch_npu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ("torch", "torch_npu")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, package=None: None if name == "torch_npu" else object()
    )
    _environment(tmp_path / "plain", torch=True)
    fitting = _environment(tmp_path / "fitting", torch=True)
    package = tmp_path / "fitting" / "lib" / "python3.11" / "site-packages" / "torch_npu"
    package.mkdir()
    (package / "version.py").touch()
    environ = {"VIRTUAL_ENV": str(tmp_path / "plain"), "CONDA_PREFIX": str(tmp_path / "fitting"), "PATH": ""}
    assert interpreter.choose("auto", environ, (), needs) == (fitting, "$CONDA_PREFIX has torch_npu, this one has not")
    with pytest.raises(MachineError, match="has no torch_npu") as caught:
        interpreter.choose(str(tmp_path / "plain" / "bin" / "python"), environ, (), needs)
    assert "CANN" in str(caught.value.hint)
    with pytest.raises(MachineError, match="torch_npu is not installed for"):
        interpreter.choose("auto", {"PATH": ""}, ("/dev/davinci0",), needs)
    assert interpreter.choose("auto", environ, ()) == (Path(sys.executable), "this one has torch")


def test_a_package_on_pythonpath_counts(tmp_path: Path) -> None:
    python = _environment(tmp_path / "venv", torch=True)
    assert not interpreter.has_package(python, "torch_npu", {})
    (tmp_path / "more" / "torch_npu").mkdir(parents=True)
    (tmp_path / "more" / "torch_npu" / "__init__.py").touch()
    assert interpreter.has_package(python, "torch_npu", {"PYTHONPATH": f"/nowhere:{tmp_path / 'more'}"})
