"""The fake C library of markers logs what it is told, and answers 0 where nobody listens."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.cann import Cann

pytestmark = pytest.mark.process

PROGRAM = """
import ctypes, json, os
lib = ctypes.CDLL(os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64", "libms_tools_ext.so"))
p, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
lib.mstxDomainCreateA.argtypes, lib.mstxDomainCreateA.restype = [text], p
lib.mstxDomainRangeStartA.argtypes, lib.mstxDomainRangeStartA.restype = [p, text, p], number
lib.mstxDomainRangeEnd.argtypes, lib.mstxDomainRangeEnd.restype = [p, number], None
lib.mstxDomainMarkA.argtypes, lib.mstxDomainMarkA.restype = [p, text, p], None
lib.mstxRangeStartA.argtypes, lib.mstxRangeStartA.restype = [text, p], number
lib.mstxRangeEnd.argtypes, lib.mstxMarkA.argtypes, lib.mstxDomainDestroy.argtypes = [number], [text, p], [p]
domain = lib.mstxDomainCreateA(b"msprun")
ids = [lib.mstxDomainRangeStartA(domain, b'mr|"1"', 0x7F5A00000002), lib.mstxRangeStartA(b"x" * 300, None)]
lib.mstxDomainRangeEnd(domain, ids[0])
lib.mstxDomainMarkA(domain, b"point", None)
lib.mstxRangeEnd(ids[1])
lib.mstxDomainDestroy(domain)
print(json.dumps(ids))
"""


def ids(cann: Cann) -> list[int]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=cann.environ, capture_output=True, text=True, check=True)
    answer: list[int] = json.loads(done.stdout)
    return answer


def test_nobody_listens_without_a_collector_that_wants_marks(tmp_path) -> None:
    cann = Cann(tmp_path)
    assert ids(cann) == [0, 0]
    assert cann.marks() == []


def test_marks_are_logged_with_host_times_domain_and_stream(tmp_path) -> None:
    cann = Cann(tmp_path, mstx=1)
    before = time.time_ns()
    assert ids(cann) == [1, 2]
    marks = cann.marks()
    assert [mark["t"] for mark in marks] == ["mark_start", "mark_start", "mark_end", "mark", "mark_end"]
    assert [mark["id"] for mark in marks] == [1, 2, 1, 3, 2]
    assert (marks[0]["message"], marks[0]["domain"], marks[0]["stream"]) == ('mr|"1"', "msprun", 2)
    # The real one keeps 156 bytes of a message.
    assert (marks[1]["message"], marks[1]["domain"], marks[1]["stream"]) == ("x" * 156, "default", 0)
    assert marks[3]["host_start_ns"] == marks[3]["host_end_ns"]
    times = [mark.get("host_ns") or mark["host_start_ns"] for mark in marks]
    assert before <= times[0] and times == sorted(times) and times[-1] <= time.time_ns()
