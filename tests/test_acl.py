"""Codes of Ascend failures, found in texts as CANN, torch_npu, msprof and npu-smi write them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from msprun import acl
from msprun.acl import explain, read_logs

TORCH_NPU = """RuntimeError: synchronize:x.ts:42 NPU function error: aclrtSynchronizeStream, error code is 507035
[ERROR] 2026-03-01-10:11:12 (PID:107001, Device:0, RankID:-1) ERR00100 PTA call acl api failed.
[Error]: The vector core execution is abnormal.
EZ9999: Inner Error!
EZ9999: [PID: 107001] 2026-03-01-10:11:12.345.678 The error from device(chipId:0, dieId:0), serial number is 1
"""
PLOG = """[INFO] RUNTIME(41,python):2026-03-01-10:11:11.000.001 [runtime.cc:88] 41 Init: ok
[ERROR] RUNTIME(41,python):2026-03-01-10:11:12.000.001 [device.cc:1] 41 errorStr: The DDR address is out of range
[ERROR] RUNTIME(41,python):2026-03-01-10:11:12.000.002 [stream.cc:2] 41 Synchronize: kernel failed, retCode=0x7bc87
[ERROR] ASCENDCL(41,python):2026-03-01-10:11:12.000.003 [stream.cpp:3] 41 stream failed, runtime result = 507899
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (TORCH_NPU, "507035"),
        (PLOG, "507015"),  # 0x7bc87, and not the 507899 that follows from it
        (
            "call aclnnMul failed, error code is 161002\nERR00100 PTA call acl api failed.\nEZ1001: self is null",
            "161002",
        ),
        ("open device 0 failed, runtime result = 507033.[FUNC:Call][FILE:log.cpp][LINE:161002]", "507033"),
        ("[ERROR] aclrtSetDevice(deviceId) failed: 507033 (/tmp/main.cpp:72)", "507033"),
        ("dcmi module initialize failed. ret is -8005", "-8005"),
        ("EE1001: [PID: 9] The argument is invalid.Reason: set ASCEND_RT_VISIBLE_DEVICES:1,0 error", "EE1001"),
        ("Memory_Allocation_Failure(EL0004): Failed to allocate memory.", "EL0004"),
        ("Set visible devices failed. ErrorCode=EE2002.", "EE2002"),
        ("rtMalloc returned ACL_ERROR_RT_MEMORY_ALLOCATION", "207001"),
        ("EE4004: Failed to enable profiling. Reason: sample based profiling is ongoing", "EE4004"),
        ("[ERROR] Prof channel[3] of device[0] is occupied, which may cause by multi-process", "channel_occupied"),
        ("[ERROR] Failed to find profiling data, please check that the application executes", "no_profiling_data"),
        ("ImportError: libhccl.so: cannot open shared object file: No such file or directory", "hccl_missing"),
        ("RuntimeError: NPU out of memory. Tried to allocate 22.00 MiB", "out_of_memory"),
        ("the call ended with error code 507899", "507899"),  # a consequence, but there is nothing else
        ("EZ9999: Inner Error!", "EZ9999"),
    ],
)
def test_the_failure_itself_is_explained_and_not_what_follows_from_it(text: str, code: str) -> None:
    found = explain(text)
    assert found is not None
    assert found.code == code
    assert found.meaning and found.next


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all is well",
        "[PID: 207001] started",
        "(PID:507015, Device:0)",
        "tid: 107001, size: 207001, [LINE:161002]",
        "507015",
        "result 1507015 and error code is 5070151",
        "sha EE10019 and XEZ9999",
        "error code is 999999",
        "returned 0x0",
    ],
)
def test_a_number_that_is_no_code_is_left_alone(text: str) -> None:
    assert explain(text) is None


def test_a_number_is_told_as_a_number_and_a_name_beside_it() -> None:
    found = explain("error code is 507035")
    assert found is not None
    assert (found.acl_code, found.name, found.kind) == (507035, "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION", "operator")
    assert found.text.startswith("507035 ACL_ERROR_RT_VECTOR_CORE_EXCEPTION: a kernel failed on a vector core")
    letters, minus = explain("EE2002"), explain("ret is -8005")
    assert letters is not None and minus is not None
    assert (letters.acl_code, minus.acl_code) == (None, -8005)
    assert letters.text.startswith("EE2002: ASCEND_RT_VISIBLE_DEVICES")


def test_every_row_says_what_it_means_what_to_do_and_where_that_was_read() -> None:
    table = acl.codes()
    assert {"107001", "207001", "507015", "507033", "507899", "EE2002", "EE4004", "EZ9999", "EK0001", "-8005"} <= set(
        table
    )
    for code, row in table.items():
        is_code = re.fullmatch(r"-?\d{4,6}|E[A-Z]\d{4}|E\d{5}|ERR\d{5}", code) is not None
        assert is_code != (row.says is not None), code
        assert not row.meaning.endswith(".") and not row.next.endswith("."), code
        assert (row.name is not None) <= code.isdecimal(), code
    names = [row.name for row in table.values() if row.name]
    assert len(names) == len(set(names))


def test_logs_below_a_folder_give_their_fault_lines_and_their_code(tmp_path: Path) -> None:
    plog = tmp_path / "debug" / "plog"
    plog.mkdir(parents=True)
    (plog / "plog-41_20260301.log").write_text(PLOG)
    (plog / "notes.txt").write_text("[ERROR] error code is 207001")
    found = read_logs(tmp_path)
    assert found.explained is not None and found.explained.code == "507015"
    assert len(found.lines) == 3
    assert "errorStr: The DDR address is out of range" in found.lines[0]


def test_logs_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for age_s, name, code in ((30, "z", "507014"), (10, "a", "507015")):
        file = tmp_path / f"{name}.log"
        file.write_text(f"[ERROR] failed: {code}\n")
        os.utime(file, (1_700_000_000 - age_s,) * 2)
    found = read_logs(tmp_path).explained
    assert found is not None and found.code == "507014"


def test_a_folder_without_logs_has_no_fault(tmp_path: Path) -> None:
    assert read_logs(tmp_path) == acl.Fault(lines=(), explained=None)
    assert read_logs(tmp_path / "nowhere") == acl.Fault(lines=(), explained=None)


def test_no_more_is_read_than_the_end_of_the_newest_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acl, "BYTES_AT_MOST", 1000)
    monkeypatch.setattr(acl, "FILES_AT_MOST", 2)
    (tmp_path / "big.log").write_text("[ERROR] failed: 507014\n" + "x" * 1000 + "\n[ERROR] failed: 507015\n")
    for number in (1, 2):
        old = tmp_path / f"old{number}.log"
        old.write_text("[ERROR] failed: 207001\n")
        os.utime(old, (number, number))
    found = read_logs(tmp_path)
    assert found.explained is not None
    assert (
        found.explained.code == "207001"
    )  # of the newer old file; the oldest is not read, nor the head of the big one
    assert [line for line in found.lines if "5070" in line] == ["[ERROR] failed: 507015"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.txt"
    secret.write_text("[ERROR] failed: 507015 of somebody else\n")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "plog-1.log").symlink_to(secret)
    os.mkfifo(logs / "plog-2.log")
    assert read_logs(logs).lines == ()


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "plog-1.log").write_bytes(b"\xff\xfe\x00[ERROR] failed: 507015 \x80\n")
    found = read_logs(tmp_path).explained
    assert found is not None and found.code == "507015"
