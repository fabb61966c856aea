"""Tables as files in a session's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
PROF = "PROF_000001_20260605161708478_00004711ABCDEFGH"
HEADER = "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Num"

Put = Callable[..., Path]


def line(number: int, name: str = "add", start: str | None = None, duration: str = "2.500") -> str:
    """A row of HEADER; kernel number n starts at 1000 + 10 n us."""
    start = f"{1000 + 10 * number}.000\t" if start is None else start
    return f"0,{number},2,{name},Add,AI_VECTOR_CORE,{start},{duration},8"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session's folder, empty."""
    folder = tmp_path / "session"
    folder.mkdir()
    return folder


@pytest.fixture
def put(session: Path) -> Put:
    """Writes a file of a PROF folder (`name` below its output), from lines or bytes."""

    def write(text: bytes | list[str], name: str = "op_summary_20260605161737.csv", prof: str = PROF) -> Path:
        path = session / prof / "mindstudio_profiler_output" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else "".join(f"{entry}\n" for entry in text).encode())
        return path

    return write


@pytest.fixture
def capture(put: Put) -> Callable[[str, str], Path]:
    """Puts a capture of tests/data in its place."""

    def copy(table: str, file: str) -> Path:
        name = "kernel_details.csv" if table == "kernel_details" else f"{table}_20260605161737.csv"
        prof = "host_4711_20260605161708478_ascend_pt" if table == "kernel_details" else PROF
        path = put((DATA / table / file).read_bytes(), name, prof)
        if table == "kernel_details":
            path.parent.rename(path.parents[1] / "ASCEND_PROFILER_OUTPUT")
        return path

    return copy
