"""CANN's tools are found on PATH, else in the toolkit that its variable names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msprun import profiler, toolkit
from msprun.interpreter import surroundings


def install(file: Path) -> Path:
    file.parent.mkdir(parents=True)
    file.touch(0o755)
    return file


@pytest.mark.parametrize("place", ["bin", "tools/profiler/bin"])
def test_what_is_on_path_goes_before_the_toolkit(tmp_path: Path, place: str) -> None:
    theirs = install(tmp_path / "cann" / place / "msprof")
    environ = {"PATH": f"{tmp_path}/usr", "ASCEND_HOME_PATH": f"{tmp_path}/cann"}
    assert toolkit.msprof(environ) == str(theirs)
    ours = install(tmp_path / "usr" / "msprof")
    assert toolkit.msprof(environ) == str(ours)


def test_folders_that_are_not_there_or_on_path_already_are_not_added(tmp_path: Path) -> None:
    install(tmp_path / "bin" / "msprof")
    environ = {"PATH": f"/usr/bin:{tmp_path}/bin", "ASCEND_HOME_PATH": str(tmp_path)}
    assert toolkit.search_path(environ) == environ["PATH"]
    assert toolkit.search_path({"PATH": "/usr/bin"}) == "/usr/bin"
    assert toolkit.msprof({"PATH": "/nowhere"}) is None


def test_the_profiler_of_an_npu_is_msprof_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    assert profiler.default_for("npu")[0] == "torch_npu"
    found = install(tmp_path / "bin" / "msprof")
    assert profiler.default_for("npu") == ("msprof", f"it is {found}")


def test_a_worker_sees_its_interpreter_first_and_the_toolkit_last() -> None:
    variables = {"PATH": "/usr/bin:/cann/bin"}
    made = surroundings(Path("/env/bin/python"), variables, {"PATH": "/usr/bin"}, {})
    assert made["PATH"].split(os.pathsep) == ["/env/bin", "/usr/bin", "/cann/bin"]
