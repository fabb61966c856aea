"""Every house check finds what it is there to find, and lets the honest twin pass."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.house import child, floors, ground, places, shape, state, values
from tests.house.tree import imports, source

LONG = "def f():\n" + "    x = 1\n" * 39
SHORT = "def f():\n" + "    x = 1\n" * 38


def found(check, *files: tuple[str, str]) -> list[str]:
    """What a check says of sources given as (path, text)."""
    return list(check([source(path, text) for path, text in files]))


# check, where the source lies, what it must find, what it must let pass
SINGLE = [
    (floors.homeless, "msprun/attic.py", "", None),
    (floors.back_doors, "msprun/plan.py", "import subprocess", "import shlex"),
    (floors.back_doors, "msprun/mode/quick.py", "def f():\n    from signal import SIGINT", "import os"),
    (floors.back_doors, "msprun/cli.py", "import hydra", "import rich"),
    (floors.back_doors, "msprun/plan.py", "from omegaconf import DictConfig", "from msgspec import Struct"),
    (floors.back_doors, "msprun/report/html.py", "import jinja2", "import json"),
    (floors.back_doors, "msprun/report/csv.py", "import pandas as pd", "import csv"),
    (floors.back_doors, "msprun/device/cpu.py", "import importlib\nimportlib.import_module('torch.nn')", "import os"),
    (values.second_defaults, "msprun/schema.py", "@dataclass\nclass A:\n    x: int = 3",
     "@dataclass\nclass A:\n    x: int = MISSING"),
    (values.second_defaults, "msprun/schema.py", "@dataclass\nclass A:\n    x: int", "class A:\n    x: int = 3"),
    (values.loose_dataclasses, "msprun/plan.py", "@dataclasses.dataclass(frozen=True)\nclass A: ...", "class A: ..."),
    (values.thawed_structs, "msprun/a.py", "class A(Struct, frozen=True): ...",
     "class A(Struct, frozen=True, kw_only=True): ..."),
    (values.thawed_structs, "msprun/a.py", "class A(msgspec.Struct, kw_only=True, frozen=False): ...",
     "class A(Other): ..."),
    (values.false_missing, "msprun/a.py", "class A(Struct):\n    x: float = 0.0",
     "class A(Struct):\n    x: float | None = None"),
    (values.false_missing, "msprun/a.py", "class A(Struct):\n    x: str = 'N/A'",
     "class A(Struct):\n    x: tuple[int, ...] = ()"),
    (values.false_missing, "msprun/a.py", "class A(Struct):\n    x: int = -1", "class A(Struct):\n    x: int = 0"),
    (shape.long_functions, "msprun/a.py", LONG, SHORT),
    (shape.wide_functions, "msprun/a.py", "def f(a, b, c, *, d, e, f): ...", "def f(self, a, b, c, *, d, e): ..."),
    (shape.mute_modules, "msprun/a.py", "import os", '"""What it is."""'),
    (state.mutable_globals, "msprun/a.py", "cache = {}", "TABLE = {1: 2}"),
    (state.mutable_globals, "msprun/a.py", "seen: set[int] = set()", "seen = frozenset()"),
    (state.mutable_globals, "msprun/a.py", "if True:\n    found = collections.deque()", "def f():\n    found = []"),
    (state.mutable_globals, "msprun/a.py", "X = 1\ndef f():\n    global X", "X = 1\ndef f():\n    x = 2"),
    (state.changed_tables, "msprun/a.py", "def f():\n    TABLE['a'] = 1", "def f(TABLE):\n    return TABLE['a']"),
    (state.changed_tables, "msprun/a.py", "def f():\n    del plan._TABLE['a']", "def f(table):\n    table['a'] = 1"),
    (state.changed_tables, "msprun/a.py", "def f():\n    TABLE.append(1)", "def f():\n    TABLE.index(1)"),
    (state.import_deeds, "msprun/a.py", "print('hello')", "'text'"),
    (state.import_deeds, "msprun/a.py", "os.environ['A'] = '1'", "A = os.environ.get('A')"),
    (state.import_deeds, "msprun/a.py", "TEXT = open('x').read()", "PATTERN = re.compile('x')"),
    (state.import_deeds, "msprun/a.py", "for x in y: ...", "if __name__ == '__main__':\n    main()"),
    (state.import_deeds, "msprun/a.py", "try:\n    import a\nexcept ImportError:\n    install()",
     "try:\n    import a\nexcept ImportError:\n    a = None"),
    (state.import_deeds, "msprun/cli.py", "register()", None),
    (child.modern_syntax, "msprun/worker/a.py", "match x:\n    case 1: ...", "if (x := 1): ..."),
    (child.modern_syntax, "msprun/worker/a.py", "def f(x: int | None): ...", "def f(x: Optional[int]): ..."),
    (child.modern_syntax, "msprun/worker/a.py", "def f() -> list[int]: ...", "def f() -> List[int]: ..."),
    (child.modern_syntax, "msprun/worker/a.py", "'abc'.removeprefix('a')", "'abc'.startswith('a')"),
    (child.strange_imports, "msprun/worker/a.py", "import numpy", "import torch.nn, json"),
    (child.strange_imports, "msprun/worker/a.py", "from msprun.worker import protocol", "from worker import protocol"),
    (child.strange_imports, "msprun/worker/a.py", "import tomllib", "import a"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "path", "bad", "good"), SINGLE)
def test_a_check_finds_the_fault_and_passes_its_twin(check, path: str, bad: str, good: str | None) -> None:
    assert found(check, (path, bad))
    assert good is None or not found(check, (path, good))


# The text of msprun/plan.py, of msprun/device/cpu.py and so on: what climbs, and what does not.
CLIMBS = [
    ("msprun/plan.py", "from msprun.mode import quick"),
    ("msprun/disk.py", "def f():\n    import msprun.model.case, msprun.plan"),
    ("msprun/device/cpu.py", "from msprun.profiler.clock import Clock"),
    ("msprun/profiler/clock.py", "from ..device import DEVICES"),
    ("msprun/launch.py", "from msprun.worker.loop import go"),
    ("msprun/mode/quick.py", "from msprun import app"),
]
TREE = (
    ("msprun/__init__.py", ""), ("msprun/app.py", ""), ("msprun/plan.py", ""), ("msprun/disk.py", ""),
    ("msprun/model/case.py", ""), ("msprun/mode/quick.py", ""), ("msprun/device/__init__.py", ""),
    ("msprun/device/cpu.py", ""), ("msprun/profiler/clock.py", ""), ("msprun/launch.py", ""),
    ("msprun/worker/loop.py", ""), ("msprun/worker/protocol.py", ""),
)  # fmt: skip


@pytest.mark.parametrize(("path", "text"), CLIMBS)
def test_an_import_that_climbs_or_goes_sideways_is_found(path: str, text: str) -> None:
    assert len(found(floors.upward, *(pair for pair in TREE if pair[0] != path), (path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("msprun/plan.py", "from msprun.device import DEVICES\nfrom msprun import __version__"),
        ("msprun/device/__init__.py", "from .cpu import Cpu"),
        ("msprun/launch.py", "from msprun.worker import protocol\nfrom msprun.plan import make"),
    ],
)
def test_an_import_that_goes_down_passes(path: str, text: str) -> None:
    assert not found(floors.upward, *(pair for pair in TREE if pair[0] != path), (path, text))


def test_a_circle_is_found_at_each_of_its_modules() -> None:
    a = ("msprun/a.py", "from msprun import b")
    b = ("msprun/b.py", "def f():\n    from msprun.c import g")
    c = ("msprun/c.py", "import msprun.a")
    assert [line.split()[0] for line in found(floors.circles, a, b, c)] == ["msprun.a", "msprun.b", "msprun.c"]
    assert not found(floors.circles, a, b, ("msprun/c.py", ""))


def test_a_struct_of_ours_makes_its_children_structs() -> None:
    parent = ("msprun/a.py", "class A(Struct, frozen=True, kw_only=True): ...")
    assert found(values.thawed_structs, parent, ("msprun/b.py", "class B(A): ..."))


def test_relative_imports_are_resolved() -> None:
    of = source("msprun/device/cpu.py", "from . import tools\nfrom ..model.case import Case")
    assert [name for name, _ in imports(of)] == ["msprun.device.tools", "msprun.model.case.Case"]


def test_a_file_of_400_lines_is_long() -> None:
    assert list(shape.long_files([("a.py", "x\n" * 400), ("b.py", "x\n" * 399)])) == ["a.py has 400 lines"]


def test_a_drawer_is_found_as_file_and_as_folder() -> None:
    assert len(list(shape.drawers(["msprun/utils.py", "msprun/common/a.py", "msprun/plan.py"]))) == 2


def test_a_stranger_at_the_top_level_is_found() -> None:
    assert len(list(ground.strangers(["setup.py", "msprun/cli.py", "notes/a.md"]))) == 2


@pytest.mark.parametrize("trace", ["/wo" + "rk/", "." + "library", "/ro" + "ot/", "sha" + "red/spec"])
def test_a_trace_of_somebodys_machine_is_found(trace: str) -> None:
    assert list(ground.traces([("a.md", f"first line\nas {trace} says")])) == [f"a.md:2 names {trace}"]


def test_paths_that_only_look_alike_are_no_traces() -> None:
    assert not list(ground.traces([("a.md", "runs/work/a $WORK/ ../sha" + "red/samples /usr/lib a.library_path")]))


def test_an_option_without_module_or_test_is_found(tmp_path: Path) -> None:
    for name in ("auto", "none", "npu"):
        write(tmp_path / "conf" / "device" / f"{name}.yaml", "")
    assert list(places.lost_options(tmp_path)) == [
        "msprun/device/npu.py is not there", "tests/device/test_npu.py is not there",
    ]  # fmt: skip


def test_a_report_without_its_files_is_found(tmp_path: Path) -> None:
    write(tmp_path / "conf" / "report" / "log.yaml", "log: {file: a.log, template: a.log.j2}")
    write(tmp_path / "conf" / "report" / "csv.yaml", "csv: {file: a.csv, template: null}")
    wanted = ["msprun/report/csv.py", "templates/a.log.j2", "tests/golden/*/a.log", "tests/report/test_csv.py"]
    assert sorted(line.split()[0] for line in places.lost_pages(tmp_path)) == wanted
    for path in wanted:
        write(tmp_path / path.replace("*", "mixed"), "")
    assert not list(places.lost_pages(tmp_path))


def test_a_key_called_like_a_folder_is_found(tmp_path: Path) -> None:
    for folder in ("report", "op", "gate"):
        (tmp_path / "conf" / folder).mkdir(parents=True)
    write(tmp_path / "conf" / "msprun.yaml", "report: [json]\nop: {name: null}\nwarmup: 1")
    schema = dataclasses.make_dataclass("Run", [("gate", str), ("warmup", int)])
    assert list(places.shared_words(tmp_path, schema)) == [
        "conf/msprun.yaml: report is a key and a folder", "Run.gate is a key and a folder",
    ]  # fmt: skip


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
