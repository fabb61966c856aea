"""torch_npu's profiler from outside: nothing stands before the worker, and its traces are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.profiler.torch_npu import TorchNpu


def test_nothing_stands_before_the_worker() -> None:
    assert TorchNpu().command(Path("/p/python"), Path("/s/wrapper.py")) == ("/p/python", "/s/wrapper.py")


def test_traces_lie_in_the_profile_folder_of_a_session(tmp_path: Path) -> None:
    trace = tmp_path / "profile" / "host_77_20251121100000000_ascend_pt"
    trace.mkdir(parents=True)
    (tmp_path / "profile" / "notes").mkdir()
    (tmp_path / "other_ascend_pt").mkdir()
    assert TorchNpu().captures(tmp_path) == (trace,)


def test_raw_data_can_be_exported_again_where_there_are_some_and_an_msprof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msprof").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    trace = tmp_path / "host_77_20251121100000000_ascend_pt"
    assert TorchNpu().export(trace) is None
    raw = trace / "PROF_000001_20251121100000000_ABCDEFGHIJKLMNOP"
    raw.mkdir(parents=True)
    assert TorchNpu().export(trace) == ("msprof", "--export=on", f"--output={raw}")
    monkeypatch.setenv("PATH", "/nowhere")
    assert TorchNpu().export(trace) is None


def test_what_its_parser_says_is_told_and_a_lacking_msprof_has_a_remedy() -> None:
    begun = "2026-11-30 12:00:00 [INFO] [8211] profiler.py: Start parsing profiling data: /s/profile/x_ascend_pt\n"
    why = "Failed to export CANN Profiling data. Error msg: Export CANN Profiling data failed! "
    lacking = f"{begun}2026-11-30 12:00:01 [ERROR] [8211] profiler.py: {why}'msprof' command not found!\n"
    assert TorchNpu().complaint(begun) is None
    assert TorchNpu().complaint(lacking) == f"torch_npu.profiler: {why}'msprof' command not found!"
    remedy = TorchNpu().remedy(lacking)
    assert remedy is not None and "set_env.sh" in remedy
    other = (
        begun + "2026-11-30 12:00:01 [ERROR] [8211] profiler.py: Path 'p' owner is neither root nor the current user\n"
    )
    assert TorchNpu().complaint(other) == "torch_npu.profiler: Path 'p' owner is neither root nor the current user"
    assert TorchNpu().remedy(other) is None


def test_an_error_of_the_operators_is_not_the_parsers() -> None:
    assert TorchNpu().complaint("[ERROR] no weights\n[ERROR] [12] model.py: none\n") is None


def test_the_driver_says_the_same_of_an_occupied_channel_as_to_msprof() -> None:
    assert TorchNpu().is_occupied("[ERROR] Prof channel[50] of device[4] is occupied, which may cause by multi-process")
    assert not TorchNpu().is_occupied("[INFO] [8211] profiler.py: Start parsing profiling data")
