"""`table_reader.py WHO FILE`: read a table as WHO does and say how long that took (s) and how much memory (MiB)."""

from __future__ import annotations

import csv
import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.csv

from msprun.reader import op_summary


def read(who: str, file: Path) -> int:
    """The rows that WHO has in hand at the end."""
    if who == "msprun":
        reading = op_summary.read(file.parent)
        return len(reading.frame) if reading.is_complete and reading.files == (file,) else 0
    if who == "pyarrow":
        return int(pyarrow.csv.read_csv(file).num_rows)
    with file.open(newline="") as text:
        return len(list(csv.DictReader(text)))


def peak_mib() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(who: str, file: Path) -> None:
    """Read once; what was imported and had been held before is not counted."""
    pd.DataFrame()
    before, start = peak_mib(), time.perf_counter()
    rows = read(who, file)
    elapsed = time.perf_counter() - start
    print(json.dumps({"who": who, "rows": rows, "seconds": elapsed, "mib": peak_mib() - before}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
