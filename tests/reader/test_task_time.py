"""task_time: every task of the scheduler, compute or not."""

from __future__ import annotations

from msprun.reader.task_time import read


def test_only_kernels_are_computing(session, capture) -> None:
    capture("task_time", "setup-rows.csv")
    reading = read(session)
    tasks = reading.frame
    assert list(tasks["kind"]) == ["other", "other", "other", "copy", "compute", "compute", "other", "other", "other"]
    assert list(tasks["name"][4:6]) == ["softmax_kernel", "void scale<float, 4>(float*, int)"]
    assert tasks["name"][0] is None and set(tasks["op_type"]) == {None}
    assert list(tasks["duration_ns"]) == [20, 80740, 20, 7000, 98400, 10000, 0, 40, 0]
    assert tasks["start_ns"][4] == 1790000015187894330
    assert (tasks["stop_ns"] - tasks["start_ns"]).tolist() == tasks["duration_ns"].tolist()
    assert [(c.code, c.line) for c in reading.complaints] == [("mended", 7)]
    assert reading.is_complete


def test_an_op_summary_under_this_name_is_another_table(put, session) -> None:
    put(
        [",".join(["Op Name", "Task Type", "Task Start Time(us)", "Task Duration(us)"]), "a,AI_CORE,1,2"],
        "task_time_1.csv",
    )
    reading = read(session)
    assert len(reading.frame) == 0
    (complaint,) = reading.complaints
    assert (complaint.code, complaint.line) == ("unknown_table", 1)
    assert complaint.what == ("this is no task_time table: it has no column for name, task_kind, start_ns, duration_ns")
