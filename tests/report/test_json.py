"""The result as JSON."""

from __future__ import annotations

import json
import math
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

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


# Numbers without a unit: ratios and shares of 0..1, levels of probability, and the old script's names for them.
PLAIN = {
    "speedup", "low", "high", "p", "p_family", "geomean_speedup", "mean_speedup", "median_speedup", "min_speedup",
    "max_speedup", "total_speedup", "geomean_low", "geomean_high", "geomean_noise_low", "geomean_noise_high",
    "operators_coverage",
}  # fmt: skip
# What a call moves, computes and runs: counted, though as real numbers.
COUNTED = {"bytes", "flops", "count"}
UNITS = ("_us", "_s", "_gb_s", "_tflop_s", "_bytes", "_share")


def test_every_number_that_is_no_count_has_its_unit_in_its_name() -> None:
    """triton-lang/triton#10700: nobody knew the unit of the returned time."""
    assert {name for name in _real_numbers(Result, set()) if not name.endswith(UNITS)} <= PLAIN | COUNTED


def _real_numbers(kind: type[msgspec.Struct], seen: set[type]) -> Iterator[str]:
    """Names of the fields, at any depth, that hold a float or several."""
    seen.add(kind)
    for field in msgspec.structs.fields(kind):
        if re.search(r"\bfloat\b", str(field.type)):
            yield field.name
        for inner in _structs(field.type):
            if inner not in seen:
                yield from _real_numbers(inner, seen)


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for argument in typing.get_args(hint):
        yield from _structs(argument)
