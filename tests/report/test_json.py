"""The result as JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from msprun.model.result import Result
from msprun.report.json import dumps, loads

NAMES = ("mixed", "all_good", "all_failed", "check_mode", "one_sided", "not_checked", "partial", "hostile")


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read_again(made: ModuleType, name: str) -> None:
    result = made.RESULTS[name]()
    assert loads(dumps(result)) == result


def test_keys_keep_the_order_of_the_type(made: ModuleType) -> None:
    assert tuple(json.loads(dumps(made.mixed()))) == Result.__struct_fields__


def test_old_keys_come_first_and_in_the_old_order(made: ModuleType) -> None:
    old = [
        "task", "task_dir", "n_cases_total", "n_cases_valid", "geomean_speedup", "mean_speedup", "median_speedup",
        "min_speedup", "max_speedup", "mean_ref_us", "median_ref_us", "geomean_ref_us", "total_ref_us", "mean_asc_us",
        "median_asc_us", "geomean_asc_us", "total_asc_us", "total_speedup", "warmup", "repeats", "seed", "device_id",
        "device_select_source", "timing_method", "per_case", "profiling_mode",
    ]  # fmt: skip
    assert list(json.loads(dumps(made.mixed())))[:26] == old


def test_skipped_row_has_its_reason_and_no_profiler_folders(made: ModuleType) -> None:
    rows = json.loads(dumps(made.mixed()))["per_case"]
    assert rows[5]["skipped"] == "empty_tensor" and "ref_prof_dir" not in rows[5]
    assert "skipped" not in rows[0] and rows[0]["ref_prof_dir"] is None


def test_indent_is_two_and_chinese_stays(made: ModuleType) -> None:
    text = dumps(made.hostile()).decode()
    assert text.startswith('{\n  "task"') and "算子" in text and text.endswith("}\n")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_number_that_json_cannot_say_is_refused_with_its_place(made: ModuleType, number: float) -> None:
    result = msgspec.structs.replace(made.mixed(), mean_ref_us=number)
    with pytest.raises(ValueError, match="result.mean_ref_us"):
        dumps(result)


def test_file_name_that_is_not_unicode_is_escaped(made: ModuleType) -> None:
    result = msgspec.structs.replace(made.mixed(), folder="/runs/\udcff")
    assert json.loads(dumps(result))["folder"] == "/runs/\udcff"


def test_plan_with_its_paths_is_json_too(made: ModuleType, plans: ModuleType) -> None:
    plan = json.loads(dumps(plans.plan(made.mixed())))
    assert plan["operator"]["folder"] == str(Path("/ops/toy_norm"))
