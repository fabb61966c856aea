"""Whatever a file holds, the reader comes back with what is sound and says the rest with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.reader import READERS, op_summary, sieve, task_time
from msprun.reader.reading import Reading
from tests.reader.conftest import HEADER, Put, line


def read(session: Path, put: Put, *lines: str | bytes) -> Reading:
    """A table of these lines."""
    rows = [row if isinstance(row, bytes) else row.encode() for row in (HEADER, *lines)]
    put(b"".join(row + b"\n" for row in rows))
    return op_summary.read(session)


def told(reading: Reading) -> list[tuple[str, int | None]]:
    return [(c.code, c.line) for c in reading.complaints]


def test_a_row_that_ends_early_is_dropped(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), "0,2,2,torn", line(3))
    assert reading.frame["task"].tolist() == [1, 3]
    assert reading.frame["line"].tolist() == [2, 4]
    assert told(reading) == [("dropped", 3)]


def test_a_row_that_a_line_break_tore_is_put_together(session: Path, put: Put) -> None:
    whole = line(2, name="two lines")
    reading = read(session, put, line(1), *whole.split(" ", 1), line(3))
    assert reading.frame["name"].tolist() == ["add", "two lines", "add"]
    assert reading.frame["line"].tolist() == [2, 3, 5]
    assert told(reading) == [("mended", 3)]


def test_a_line_break_in_a_quoted_cell_is_one_row(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2, name='"two\nlines"'), line(3))
    assert reading.frame["name"].tolist() == ["add", "two lines", "add"]
    assert reading.frame["line"].tolist() == [2, 3, 5]
    assert told(reading) == [("mended", 3)]


def test_a_lone_carriage_return_tears_too(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2, name="two\rlines"), line(3))
    assert reading.frame["name"].tolist() == ["add", "two lines", "add"]
    assert told(reading) == [("mended", 3)]


def test_an_open_quote_does_not_swallow_what_follows(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2, name='"open'), *map(line, range(3, 9)))
    assert reading.frame["task"].tolist() == [1, 3, 4, 5, 6, 7, 8]
    assert told(reading) == [("dropped", 3)]


def test_a_quote_inside_a_name_is_text(session: Path, put: Put) -> None:
    reading = read(session, put, line(1, name='operator""_x'), line(2, name="torn,"), line(3, name='a "b" c'))
    assert reading.frame["name"].tolist() == ['operator""_x', "torn,", 'a "b" c']
    assert told(reading) == [("mended", 3)]


@pytest.mark.parametrize("start", ["N/A", "", "soon", "nan", "inf", "-5.000", "99999999999999999999.5", "1e300"])
def test_a_row_without_a_sound_start_is_dropped(session: Path, put: Put, start: str) -> None:
    reading = read(session, put, line(1), line(2, start=start), line(3))
    assert reading.frame["task"].tolist() == [1, 3]
    assert ("dropped", 3) in told(reading)
    assert not reading.is_complete


@pytest.mark.parametrize("duration", ["N/A", "-0.001", "1e9999999", "86400000000.001", "NaN", "0x10"])
def test_a_row_without_a_sound_duration_is_dropped(session: Path, put: Put, duration: str) -> None:
    reading = read(session, put, line(1), line(2, duration=duration), line(3))
    assert reading.frame["task"].tolist() == [1, 3]
    assert ("dropped", 3) in told(reading)


def test_what_is_wrong_with_a_time_is_said(session: Path, put: Put) -> None:
    reading = read(session, put, line(1, duration="-5.250"), line(2, duration="soon"))
    assert [c.what for c in reading.complaints] == [
        "duration_ns reads 'soon', which is none",
        "duration_ns reads '-5.250', which is none",
        "a row without duration_ns",
        "a row without duration_ns",
    ]


def test_a_duration_of_zero_stays(session: Path, put: Put) -> None:
    reading = read(session, put, line(1, duration="0.000"), line(2, duration="0"))
    assert reading.frame["duration_ns"].tolist() == [0, 0] and reading.complaints == ()


def test_numbers_that_are_none_are_gaps_and_said(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2).replace("0,2,2,", "host,2.0,2.5,"), line(3))
    assert reading.frame["device"].fillna(-1).tolist() == [0, -1, 0]
    assert reading.frame["task"].tolist() == [1, 2, 3]
    assert reading.frame["stream"].fillna(-1).tolist() == [2, -1, 2]
    assert told(reading) == [("odd_value", 3), ("odd_value", 3)]
    assert reading.is_complete


def test_blank_lines_and_odd_line_ends_are_nothing(session: Path, put: Put) -> None:
    for end in (b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\n"):
        put(end.join(row.encode() for row in (HEADER, line(1), line(2), "")))
        reading = op_summary.read(session)
        assert reading.frame["start_ns"].tolist() == [1010000, 1020000], end
        assert reading.complaints == (), end


def test_a_mark_of_byte_order_is_no_part_of_the_name(session: Path, put: Put) -> None:
    put(b"\xef\xbb\xbf" + f"{HEADER}\n{line(1)}\n".encode())
    reading = op_summary.read(session)
    assert reading.frame["device"].tolist() == [0] and reading.complaints == ()


def test_a_last_line_without_an_end_counts(session: Path, put: Put) -> None:
    put(f"{HEADER}\n{line(1)}\n{line(2)}".encode())
    assert op_summary.read(session).frame["task"].tolist() == [1, 2]


def test_a_needed_cell_that_the_file_ends_in_is_not_believed(session: Path, put: Put) -> None:
    put(f"{HEADER}\n{line(1)}\n{line(2)}".encode())  # the number of blocks may have been 80
    reading = op_summary.read(session)
    assert reading.frame["block_num"].fillna(-1).tolist() == [8, -1]
    assert told(reading) == [("odd_value", 3)]
    put(
        b"kernel_name,kernel_type,task_start(us),task_time(us)\nadd,AIV,1.000,2.500\nadd,AIV,3.000,2.5",
        "task_time_1.csv",
    )
    reading = task_time.read(session)
    assert reading.frame["duration_ns"].tolist() == [2500]
    assert told(reading) == [("odd_value", 3), ("dropped", 3)]


def test_a_quoted_cell_that_the_file_ends_in_is_dropped(session: Path, put: Put) -> None:
    whole = put([HEADER, line(1), line(2)[:-1] + '"8']).read_bytes()
    for content in (whole, whole.rstrip()):
        put(content)
        reading = op_summary.read(session)
        assert reading.frame["task"].tolist() == [1]
        assert told(reading) == [("dropped", 3)]


@pytest.mark.parametrize("is_torn", [False, True])
@pytest.mark.parametrize("header_too", [False, True])
def test_a_comma_at_the_end_of_each_line_is_no_column(session: Path, put: Put, header_too: bool, is_torn: bool) -> None:
    lines = [f"{HEADER}," if header_too else HEADER, f"{line(1)},", f"{line(2, name='a,b')},"]
    put([*lines, "torn"] if is_torn else lines)
    reading = op_summary.read(session)
    assert reading.frame["name"].tolist() == ["add", "a,b"]
    assert [c for c in told(reading) if c[0] != "dropped"] == [("mended", 3)]


def test_nul_bytes_are_dropped_where_a_file_was_cut_off(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), b"\0" * 5000)
    assert reading.frame["task"].tolist() == [1]
    assert told(reading) == [("dropped", 3)]


def test_bytes_that_are_no_utf8_are_replaced_and_said(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2, name="gr\xf6sse").encode("latin-1"), line(3))
    assert reading.frame["name"].tolist() == ["add", "gr\ufffdsse", "add"]
    assert told(reading) == [("mended", 3)]


def test_a_line_beyond_any_size_is_dropped(session: Path, put: Put) -> None:
    reading = read(session, put, line(1), line(2, name="x" * 5_000_000), line(3))
    assert reading.frame["task"].tolist() == [1, 3]
    assert told(reading) == [("dropped", 3)]


def test_a_long_name_is_kept(session: Path, put: Put) -> None:
    reading = read(session, put, line(1, name="x" * 300_000), "torn")
    assert reading.frame["name"].str.len().tolist() == [300_000]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        "Op Name,Task Type\n".encode("utf-16"),
        b"\0" * 100,
        b"x" * 3_000_000,
        b'"',
        b"SQLite format 3\0",
        b"<html>\n</html>\n",
        b",,,\n,,,\n",
    ],
)
@pytest.mark.parametrize("table", READERS)
def test_what_is_no_table_is_said(session: Path, put: Put, table: str, content: bytes) -> None:
    path = put(content, "kernel_details.csv" if table == "kernel_details" else f"{table}_20260605161737.csv")
    if table == "kernel_details":
        path.parent.rename(path.parents[1] / "ASCEND_PROFILER_OUTPUT")
    reading = READERS[table](session)
    assert len(reading.frame) == 0 and len(reading.files) == 1
    assert [c.code for c in reading.complaints] in (["unreadable"], ["unknown_table"])
    assert not reading.is_complete


def test_a_header_without_rows_is_an_empty_table(session: Path, put: Put) -> None:
    """ROCm/rocprofiler-compute#694: an empty table crashed the analysis."""
    for content in (f"{HEADER}\n", HEADER):
        put(content.encode())
        reading = op_summary.read(session)
        assert len(reading.frame) == 0 and reading.complaints == ()


def test_of_two_columns_of_a_name_the_first_is_read(session: Path, put: Put) -> None:
    put([f"{HEADER},Task_Duration(us),extra,extra,kind", f"{line(1)},9.000,a,b,mine"])
    reading = op_summary.read(session)
    assert reading.frame["duration_ns"].tolist() == [2500]
    assert reading.frame["extra"].tolist() == ["a"]
    assert reading.frame["kind"].tolist() == ["compute"]
    assert reading.frame["kind (as written)"].tolist() == ["mine"]
    assert told(reading) == [("odd_value", 1), ("odd_value", 1)]


@pytest.mark.parametrize("block_bytes", [1, 50, 200, 1000])
def test_bad_rows_between_blocks_of_sound_ones(
    session: Path, put: Put, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(sieve, "BLOCK_BYTES", block_bytes)
    lines = [line(number) for number in range(40)]
    lines[7:7] = ["torn", *line(100, name="two lines").split(" ")]  # lines 9, 10 and 11
    lines[20] = line(200, name="a, b")
    reading = read(session, put, *lines)
    tasks = [*range(7), 100, *range(7, 17), 200, *range(18, 40)]
    assert reading.frame.sort_values("line")["task"].tolist() == tasks
    assert told(reading) == [("dropped", 9), ("mended", 10), ("mended", 22)]
    assert sorted(reading.frame["line"]) == [*range(2, 9), 10, *range(12, 45)]


def test_a_million_bad_rows_are_few_complaints(session: Path, put: Put) -> None:
    reading = read(session, put, *["torn"] * 1000, line(1))
    assert len(reading.frame) == 1
    assert len(reading.complaints) == 11
    assert str(reading.complaints[-1]).endswith("op_summary_20260605161737.csv:1001: and 990 more like these")


def test_infinite_counters_are_gaps_and_said(session: Path, put: Put) -> None:
    put([f"{HEADER},aic_mac_ratio", f"{line(1)},0.5", f"{line(2)},inf", f"{line(3)},N/A"])
    reading = op_summary.read(session)
    assert reading.frame["aic_mac_ratio"].fillna(-1).tolist() == [0.5, -1, -1]
    assert told(reading) == [("odd_value", 3)]


@pytest.mark.process
def test_a_file_without_rights_is_said(put: Put, session: Path, unprivileged) -> None:
    path = put([HEADER, line(1)])
    target = unprivileged.folder / "op_summary_1.csv"
    target.write_bytes(path.read_bytes())
    target.chmod(0)
    reading = unprivileged.call(_codes, unprivileged.folder)
    assert reading == ["unreadable"]


def _codes(folder: Path) -> list[str]:
    return [c.code for c in op_summary.read(folder).complaints]
