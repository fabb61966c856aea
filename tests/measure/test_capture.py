"""The records of a session: an export that left nothing is made once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.measure.capture import read
from msprun.model.plan import Command, Session
from msprun.profiler.msprof import Msprof

TABLE = (
    "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num\n"
    "0,1,2,add,Add,AI_VECTOR_CORE,1000.000,20.000,8\n"
)


class Later(Msprof):
    """Its offline export notes that it ran, and copies a table into the capture where there is one."""

    def export(self, capture: Path) -> tuple[str, ...]:
        copy = f"mkdir {capture}/mindstudio_profiler_output; cp table.csv $_/op_summary_20260605161737.csv"
        return ("/bin/bash", "-c", f"echo exported >>noted; echo parsing; {copy}")


def session(folder: Path) -> Session:
    (folder / "PROF_1" / "device_0" / "data").mkdir(parents=True)
    command = Command(argv=("msprof",), cwd=folder, env=(), stdout=folder / "out", stderr=folder / "err")
    return Session(
        number=1, round="timing", profiler="msprof", cases=(0,), sides=("candidate",), folder=folder, command=command,
    )  # fmt: skip


@pytest.mark.process
def test_an_export_that_failed_is_made_once_more_offline_and_its_words_are_kept(tmp_path: Path) -> None:
    """vllm-project/vllm-ascend#2295: parsing failed at the end of a run, and later worked on the same data."""
    made = session(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    found = read(Later(), made, (), 20.0)
    assert found.kernels is not None
    assert (found.source, found.trouble, found.kernels.frame["duration_ns"].tolist()) == ("op_summary", None, [20_000])
    assert (tmp_path / "noted").read_text() == "exported\n"
    assert (tmp_path / "export.log").read_text() == "parsing\n"


@pytest.mark.process
def test_an_export_that_fails_again_is_not_asked_a_third_time(tmp_path: Path) -> None:
    found = read(Later(), session(tmp_path), (), 20.0)
    assert (found.kernels, found.trouble) == (None, "no_table")
    assert (tmp_path / "noted").read_text() == "exported\n"


def test_records_that_are_there_are_not_exported_again(tmp_path: Path) -> None:
    made = session(tmp_path)
    output = tmp_path / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir()
    (output / "op_summary_20260605161737.csv").write_text(TABLE)
    assert read(Later(), made, (), 20.0).kernels is not None
    assert not (tmp_path / "noted").exists()
