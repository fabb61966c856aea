"""Row 4: an op_summary of a million rows to a frame, against pyarrow's bare read and csv.DictReader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pairs import Timed
from benchmarks.place import HERE, Broken, Place

ROWS = 1_000_000
# DictReader takes as long for a row as for the one before: a tenth of them tells, and its seconds are scaled.
ROWS_DICTS = 100_000
ROUNDS, ROUNDS_QUICK = 5, 1
# A timing round collects no counters, so its table has the fixed part alone.
HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID"
)
KERNELS = (
    ("aclnnAdd_AddAiCore_Add", "Add", "AI_VECTOR_CORE", '"1024,4096;4096"', "FLOAT16;FLOAT16", "ND;ND"),
    ("aclnnMatmul_MatMulCommon_MatMulV2", "MatMulV2", "AI_CORE", '"1024,512;512,64"', "FLOAT16;FLOAT16", "ND;ND"),
    ("softmax_custom", "softmax_custom", "AI_VECTOR_CORE", "N/A", "N/A", "N/A"),
    ("trans_TransData_0", "TransData", "AI_VECTOR_CORE", '"32,3,224,224"', "FLOAT", "NCHW"),
    ("fused_kernel", "fused_kernel", "MIX_AIC", "N/A", "N/A", "N/A"),
)


def contenders(place: Place) -> dict[str, Timed]:
    """The reader of this msprun, and the two others."""
    return {
        "bare pyarrow": lambda number: seconds(place, "pyarrow", ROWS),
        "msprun reader": lambda number: seconds(place, "msprun", ROWS),
        "DictReader": lambda number: seconds(place, "dicts", ROWS_DICTS) * (ROWS / ROWS_DICTS),
    }


def seconds(place: Place, who: str, rows: int) -> float:
    """Seconds of the reading itself, without the start of its process. Raises Broken unless all rows were read."""
    place.seconds((*place.python, str(HERE / "table_reader.py"), who, str(table(place.folder, rows))))
    told = json.loads(place.said("stdout"))
    if told["rows"] != rows:
        raise Broken(f"{who} read {told['rows']} of {rows} rows")
    with (place.folder / "reads.jsonl").open("a") as file:
        file.write(json.dumps(told) + "\n")
    return float(told["seconds"])


def note(folder: Path) -> str:
    """How much memory the readings took at most, beside the size of the file."""
    told = [json.loads(line) for line in (folder / "reads.jsonl").read_text().splitlines()]
    size = table(folder, ROWS).stat().st_size / 2**20
    peaks = {who: max((one["mib"] for one in told if one["who"] == who), default=0) for who in ("msprun", "pyarrow")}
    return (
        f"memory for {ROWS:,} rows ({size:.0f} MiB): msprun reader {peaks['msprun']:.0f} MiB, "
        f"bare pyarrow {peaks['pyarrow']:.0f} MiB"
    )


def table(folder: Path, rows: int) -> Path:
    """An op_summary of so many rows in a folder of its own, written at the first call."""
    file = folder / f"PROF_{rows}" / "op_summary_20260605161737.csv"
    if not file.exists():
        file.parent.mkdir()
        with file.open("w") as text:
            text.writelines(_lines(rows))
    return file


def _lines(rows: int) -> Iterator[str]:
    yield f"{HEADER}\n"
    start_ns = 1_780_676_244_313_289_000
    for number in range(rows):
        name, op_type, kind, shapes, types, formats = KERNELS[number % len(KERNELS)]
        duration_ns = 2000 + number * 7919 % 90_000
        yield (
            f"0,4294967295,{number % 65536},2,{name},{op_type},dynamic,{kind},{_us(start_ns)}\t,{_us(duration_ns)},"
            f"1.500000,40,0,NO,{shapes},{types},{formats},{shapes},{types},{formats},N/A\n"
        )
        start_ns += duration_ns + 1500


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"
