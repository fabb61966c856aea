"""Installations of CANN that are whole, half, doubled or not there, made of empty files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from msprun.device import cann
from msprun.device.cann import examine
from msprun.device.npu import Npu
from msprun.errors import MachineError


@pytest.fixture(autouse=True)
def own_linker_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(cann, "_LINKER_CACHE", tmp_path / "ld.so.cache")
    return tmp_path / "ld.so.cache"


def install(home: Path, version: str = "8.3.RC2") -> Path:
    """A CANN with its runtime, its msprof and a note of its version."""
    for name in ("lib64/libascendcl.so", "bin/msprof", "aarch64-linux/ascend_toolkit_install.info"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    (home / "bin/msprof").chmod(0o755)
    (home / "aarch64-linux/ascend_toolkit_install.info").write_text(f"package_name=Ascend-cann\nversion={version}\n")
    return home


def interpreter(folder: Path, *packages: str) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.touch()
    for name in packages:
        (folder / "lib/python3.11/site-packages" / name).mkdir(parents=True)
        (folder / "lib/python3.11/site-packages" / name / "version.py").touch()
    return python


def sourced(home: Path) -> dict[str, str]:
    return {"ASCEND_HOME_PATH": str(home), "LD_LIBRARY_PATH": f"{home}/lib64", "PATH": f"{home}/bin"}


def test_a_sourced_cann_with_its_torch_npu_has_no_finding(tmp_path: Path) -> None:
    home = install(tmp_path / "cann")
    found = examine(sourced(home), interpreter(tmp_path / "venv", "torch", "torch_npu"))
    assert found.findings == ()
    assert (found.home, found.version, found.msprof, found.others) == (home, "8.3.RC2", home / "bin/msprof", ())


def test_torch_npu_without_cann_is_told_to_source_it(tmp_path: Path) -> None:
    python = interpreter(tmp_path / "venv", "torch", "torch_npu")
    with pytest.raises(MachineError, match="CANN is not sourced: ASCEND_HOME_PATH is not set") as caught:
        Npu().check(python, {"PATH": str(tmp_path)})
    assert "set_env.sh" in str(caught.value.hint)


def test_a_home_whose_libraries_are_not_on_the_path_is_not_sourced(tmp_path: Path) -> None:
    environ = {**sourced(install(tmp_path / "cann")), "LD_LIBRARY_PATH": ""}
    with pytest.raises(MachineError, match="libascendcl.so is not on LD_LIBRARY_PATH"):
        Npu().check(interpreter(tmp_path / "venv", "torch_npu"), environ)


def test_cann_without_torch_npu_is_told_to_name_the_right_interpreter(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="torch_npu is not installed for") as caught:
        Npu().check(interpreter(tmp_path / "venv", "torch"), sourced(install(tmp_path / "cann")))
    assert "python=" in str(caught.value.hint)


def test_libraries_that_the_linker_knows_need_no_variable(tmp_path: Path, own_linker_cache: Path) -> None:
    home = install(tmp_path / "cann")
    own_linker_cache.write_bytes(
        b"ld.so-1.7.0\0\x01\x02libfoo.so\0/usr/lib/libfoo.so\0" + f"{home}/lib64/libascendcl.so".encode() + b"\0"
    )
    environ = {"ASCEND_HOME_PATH": str(home), "PATH": f"{home}/bin"}
    assert examine(environ, interpreter(tmp_path / "venv", "torch_npu")).findings == ()


def test_no_msprof_means_the_other_profiler_and_is_said(tmp_path: Path) -> None:
    home = install(tmp_path / "cann")
    (home / "bin/msprof").unlink()
    [finding] = Npu().check(interpreter(tmp_path / "venv", "torch_npu"), {**sourced(home), "PATH": str(tmp_path)})
    assert (finding.code, finding.is_fatal) == ("no_msprof", False)
    assert "torch_npu's profiler" in finding.message


def test_the_msprof_of_the_toolkit_is_used_where_none_is_on_path(tmp_path: Path) -> None:
    home = install(tmp_path / "cann")
    found = examine({**sourced(home), "PATH": str(tmp_path)}, interpreter(tmp_path / "venv", "torch_npu"))
    assert (found.msprof, found.findings) == (home / "bin/msprof", ())
    assert found.msprof_why == f"none is on PATH, and of ASCEND_HOME_PATH={home}"


def test_a_toolkit_whose_msprof_is_not_the_first_is_said_also_where_it_is_not_on_path(tmp_path: Path) -> None:
    old, new = install(tmp_path / "old"), install(tmp_path / "new")
    found = examine({**sourced(new), "PATH": f"{old}/bin"}, interpreter(tmp_path / "venv", "torch_npu"))
    assert (found.msprof, found.others) == (old / "bin/msprof", (new / "bin/msprof",))
    assert [finding.code for finding in found.findings] == ["two_canns"]


def test_of_two_canns_the_first_on_path_is_used_and_both_are_named(tmp_path: Path) -> None:
    """A fork of the old script found the wrong msprof of two, and asked it for --version."""
    old, new = install(tmp_path / "old"), install(tmp_path / "new")
    python = interpreter(tmp_path / "venv", "torch_npu")
    found = examine({**sourced(new), "PATH": f"{old}/bin:{new}/bin"}, python)
    assert (found.msprof, found.others) == (old / "bin/msprof", (new / "bin/msprof",))
    [finding] = found.findings
    assert finding.code == "two_canns"
    used = f"{old}/bin/msprof is used (the first on PATH, though ASCEND_HOME_PATH={new})"
    assert finding.message == f"several CANNs are found: {used}, not {new}/bin/msprof"
    found = examine({**sourced(new), "PATH": f"{new}/bin:{old}/bin"}, python)
    assert found.msprof == new / "bin/msprof"
    assert found.msprof_why == f"the first on PATH, and of ASCEND_HOME_PATH={new}"


def test_links_to_one_msprof_are_one(tmp_path: Path) -> None:
    home = install(tmp_path / "cann-8.3")
    (tmp_path / "latest").symlink_to(home)
    found = examine(
        {**sourced(tmp_path / "latest"), "PATH": f"{home}/bin:{tmp_path}/latest/bin"},
        interpreter(tmp_path / "venv", "torch_npu"),
    )
    assert found.others == () and found.findings == ()


def test_a_library_of_another_cann_than_the_home_is_said(tmp_path: Path) -> None:
    old, new = install(tmp_path / "old"), install(tmp_path / "new")
    [finding] = examine(
        {**sourced(new), "LD_LIBRARY_PATH": f"{old}/lib64"}, interpreter(tmp_path / "venv", "torch_npu")
    ).findings
    assert finding.code == "two_libraries"


def test_libraries_without_their_home_are_said(tmp_path: Path) -> None:
    environ = sourced(install(tmp_path / "cann"))
    del environ["ASCEND_HOME_PATH"]
    [finding] = Npu().check(interpreter(tmp_path / "venv", "torch_npu"), environ)
    assert finding.code == "cann_half_sourced"


def test_a_home_that_is_not_there_is_said(tmp_path: Path) -> None:
    environ = {**sourced(install(tmp_path / "cann")), "ASCEND_HOME_PATH": str(tmp_path / "gone")}
    codes = [finding.code for finding in examine(environ, interpreter(tmp_path / "venv", "torch_npu")).findings]
    assert codes == ["cann_not_there"]


def test_this_interpreters_own_packages_are_known_without_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu" / "__init__.py").write_text("raise ImportError('never imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert examine(sourced(install(tmp_path / "cann")), Path(sys.executable)).findings == ()
