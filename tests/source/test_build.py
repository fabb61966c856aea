"""What sources say of a build, on folders whose times and texts are chosen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from msprun.model.operator import Operator
from msprun.source.build import build_remarks
from tests.report import plans


def operator(folder: Path, **files: tuple[str, int]) -> Operator:
    """Files by name (`__` for a slash, `_so` and `_cpp` for suffixes), each with its text and its time in seconds."""
    for name, (text, at_s) in files.items():
        path = folder / name.replace("__", "/").replace("_so", ".so").replace("_cpp", ".cpp").replace("_h", ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_800_000_000 + at_s, 1_800_000_000 + at_s))
    return replace(plans.operator(()), folder=folder)


def codes(made: Operator) -> list[tuple[str, object]]:
    return [(remark.code, remark.figures["what"]) for remark in build_remarks(made)]


def test_a_source_that_is_newer_than_the_library_makes_it_stale(tmp_path: Path) -> None:
    """`stale_build` names the newest source."""
    made = operator(tmp_path, kernel__op_cpp=("int x;", 60), kernel__old_cpp=("", 0), kernel__build__op_so=("", 0))
    assert codes(made) == [("stale_build", "kernel/op.cpp")]


@pytest.mark.parametrize("later_s", [0, -60, 5])
def test_a_library_that_is_as_new_as_its_sources_is_not_stale(tmp_path: Path, later_s: int) -> None:
    assert codes(operator(tmp_path, kernel__op_cpp=("int x;", later_s), kernel__build__op_so=("", 0))) == []


def test_what_op_build_has_just_made_is_not_stale(tmp_path: Path) -> None:
    made = operator(tmp_path, kernel__op_cpp=("int x;", 60), kernel__build__op_so=("", 0))
    assert codes(replace(made, build=("sh", "build.sh"))) == []


def test_sources_without_a_library_are_python_operators(tmp_path: Path) -> None:
    assert codes(operator(tmp_path, kernel__op_cpp=("DumpTensor(x, 1, 8);", 60))) == []


@pytest.mark.parametrize(
    "text",
    ["AscendC::DumpTensor(x, 1, 8);", "DumpTensor (x, 1, 8);", 'AscendC::PRINTF("%d", i);', 'AscendC::printf("x");',
     "// quiet\nPRINTF(\"x\");", "#define ASCENDC_DUMP 1"],
)  # fmt: skip
def test_a_kernel_that_prints_is_a_debug_build(tmp_path: Path, text: str) -> None:
    """`debug_build`: what DumpTensor and printf cost is in every time."""
    assert codes(operator(tmp_path, kernel__op_cpp=(text, 0), kernel__build__op_so=("", 0))) == [
        ("debug_build", "kernel/op.cpp")
    ]


@pytest.mark.parametrize(
    "text", ["// DumpTensor(x, 1, 8);", "/* PRINTF(1)\n */", 'printf("host\\n");', "MyDumpTensor(x);", "DumpTensors;"]
)
def test_comments_host_code_and_other_names_are_none(tmp_path: Path, text: str) -> None:
    assert codes(operator(tmp_path, kernel__op_cpp=(text, 0), kernel__build__op_so=("", 0))) == []


def test_what_was_built_and_links_are_not_looked_at(tmp_path: Path) -> None:
    made = operator(tmp_path, kernel__build__gen_cpp=("DumpTensor(x);", 90), kernel__build__op_so=("", 0))
    outside = tmp_path / "outside.cpp"
    outside.write_text("DumpTensor(x);")
    (tmp_path / "kernel" / "link.cpp").symlink_to(outside)
    assert codes(made) == []
