"""Records of the emulated NPU, made as a worker makes them, read and accounted: what is told is what happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from msprun.account import account
from msprun.account.own import separator
from msprun.model.call import Accounts, DeviceCall
from msprun.reader import READERS
from tests.account.streams import FACTS, times_ns
from tests.cann import Cann

PROGRAM = Path(__file__).parent / "programs" / "recorded.py"
ROOT = Path(__file__).resolve().parents[2]
WORDS = ("--ascendcl=on", "--task-time=on", "--ai-core=off", "--msproftx=on")


def played(folder: Path, way: str, fault: str) -> tuple[Accounts, list[DeviceCall], dict[int, int]]:
    """The account of a session, its calls, and the true device time of each call of a side."""
    cann, place = Cann(folder, fault=fault), folder / "record.json"
    environ = cann.environ | {"PYTHONPATH": f"{ROOT}:{cann.environ['PYTHONPATH']}"}
    command = ["msprof", f"--output={folder}", *WORDS, sys.executable, str(PROGRAM), way, str(place)]
    subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=100)
    record = json.loads(place.read_text())
    calls = [
        DeviceCall(
            number=number, case=case, side=side, purpose="timed" if side else purpose, visit=0, group=None,
            start_ns=start_ns, end_ns=end_ns,
        )
        for number, case, side, purpose, start_ns, end_ns in record
        if purpose != "pause"
    ]  # fmt: skip
    (capture,) = folder.glob("PROF_*")
    kernels, markers = READERS["op_summary"](capture), READERS["msprof_tx"](capture)
    pauses = tuple(number for number, _, _, purpose, *_ in record if purpose == "pause")
    facts = replace(FACTS, pauses=pauses, separator=separator(kernels.frame) if pauses else None)
    found = account(kernels.frame, markers.frame, calls, facts)
    return found, calls, dict(zip([c.number for c in calls if c.side], true_ns(cann), strict=True))


def true_ns(cann: Cann) -> list[int]:
    """Device times between each two notes of the device's log."""
    sums: list[int] = []
    is_inside = False
    for record in cann.truth():
        if record["t"] == "note":
            is_inside = record["text"] == "begin"
            sums += [0] if is_inside else []
        elif record["t"] == "kernel" and is_inside:
            sums[-1] += record["duration_ns"]
    return sums


@pytest.mark.torch
@pytest.mark.parametrize(
    ("way", "fault", "borders"), [("markers", "lost_tail:1", "markers"), ("separators", "prologue:9", "separators")]
)
def test_times_equal_the_log_of_the_device(tmp_path: Path, way: str, fault: str, borders: str) -> None:
    found, calls, truth = played(tmp_path, way, fault)
    assert found.borders == borders
    verdicts = {(one.case, one.side): one.verdict for one in found.sides}
    assert verdicts.pop((2, "candidate")) == "no_kernels"
    assert verdicts.pop((2, "reference")) == ("lost_rows" if fault == "lost_tail:1" else "exact")
    assert set(verdicts.values()) == {"exact"}
    told = {number: ns for one in found.sides for number, ns in times_ns(one).items()}
    assert told == {number: truth[number] for number in told}
    expected = [call.number for call in calls if call.side and (call.case, call.side) != (2, "candidate")]
    assert set(told) == set(expected[:-1] if fault == "lost_tail:1" else expected)
