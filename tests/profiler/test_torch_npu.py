"""torch_npu's profiler from outside: nothing stands before the worker, and its traces are found."""

from __future__ import annotations

from pathlib import Path

from msprun.profiler.torch_npu import TorchNpu


def test_nothing_stands_before_the_worker() -> None:
    assert TorchNpu().command(Path("/p/python"), Path("/s/wrapper.py")) == ("/p/python", "/s/wrapper.py")


def test_traces_lie_in_the_profile_folder_of_a_session(tmp_path: Path) -> None:
    trace = tmp_path / "profile" / "host_77_20251121100000000_ascend_pt"
    trace.mkdir(parents=True)
    (tmp_path / "profile" / "notes").mkdir()
    (tmp_path / "other_ascend_pt").mkdir()
    assert TorchNpu().captures(tmp_path) == (trace,)


def test_an_export_cannot_be_repeated_from_outside() -> None:
    assert TorchNpu().export(Path("/s/profile/x_ascend_pt")) is None


def test_the_driver_says_the_same_of_an_occupied_channel_as_to_msprof() -> None:
    assert TorchNpu().is_occupied("[ERROR] Prof channel[50] of device[4] is occupied, which may cause by multi-process")
    assert not TorchNpu().is_occupied("[INFO] [8211] profiler.py: Start parsing profiling data")
