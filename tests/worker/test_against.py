"""A third side from a folder of its own, whose modules and libraries are not the candidate's."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import torch

from msprun.worker.folder import Folders
from msprun.worker.libraries import mapped_below, same_libraries
from msprun.worker.serve import answer

MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))
    def forward(self, x):
        return x * self.weight
def get_inputs():
    return [torch.randn(3, 4)]
"""
NEW = """
import torch
from torch import nn
import kernel_of_this

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        torch.rand(3)
        self.weight = nn.Parameter(torch.randn(4))
    def forward(self, x):
        import found_late
        self.seen = kernel_of_this.NAME, found_late.NAME
        return x * self.weight
"""
XX = next(iter(Path(sysconfig.get_config_var("DESTSHARED") or "/nowhere").glob("xxlimited.*")), None)


def furnish(folder: Path, name: str) -> None:
    (folder / "kernel" / "build").mkdir(parents=True)
    (folder / "model_new_ascendc.py").write_text(NEW)
    (folder / "kernel" / "build" / "kernel_of_this.py").write_text(f"NAME = {name!r}\n")
    (folder / "found_late.py").write_text(f"NAME = {name!r}\n")


@pytest.fixture
def three(bench: Any, tmp_path: Path) -> Any:
    """A session of three sides, and the folder of the third."""
    old = tmp_path / "old"
    furnish(old, "old")
    furnish(bench.operator, "new")
    bench.write(MODEL)
    operator = {
        "name": "my_op", "folder": str(bench.operator),
        "reference": {"file": "model.py", "cls": "Model"},
        "candidate": {"file": "model_new_ascendc.py", "cls": "ModelNew"},
        "against": {"file": "model_new_ascendc.py", "cls": "ModelNew", "folder": str(old)},
    }  # fmt: skip
    return bench.session(operator=operator, sides=["reference", "candidate", "against"])


def prepare(session: Any) -> str:
    session.load(0)
    digest = ""
    for side in ("reference", "candidate", "against"):
        session.construct(0, side)
        digest = session.first(0, side).get("hash") or digest
    return digest


def test_each_side_has_the_modules_of_its_folder(three: Any) -> None:
    """mindie-agent/mindie-agent#66: both sides ran the same binary."""
    prepare(three)
    three.time(0, [["candidate", 1], ["against", 2], ["candidate", 1]])
    sides = three.cases[0].sides
    assert sides["candidate"].model.seen == ("new", "new") and sides["against"].model.seen == ("old", "old")
    assert type(sides["candidate"].model) is not type(sides["against"].model)
    assert sys.modules["kernel_of_this"].NAME == "new" and sys.path[0] == str(three.job.operator)


def test_its_weights_come_from_the_reference_and_it_is_checked_like_a_candidate(three: Any) -> None:
    digest = prepare(three)
    sides = three.cases[0].sides
    assert torch.equal(sides["against"].model.weight, sides["reference"].model.weight)
    for do in (three.check, three.attack, three.recheck):
        assert do(0, "against", None, digest)["state"] == "correct"
    assert three.breakdown(0, "against")["operators"][0]["name"] == "aten::mul"


def test_the_mark_names_the_third_side(three: Any, bench: Any) -> None:
    old = three.job.folders["against"] / "model_new_ascendc.py"
    mark = str(bench.folder / "mark")
    old.write_text(NEW.replace("return x", f"self.mark = open({mark!r}).read(); return x"))
    prepare(three)
    assert three.cases[0].sides["against"].model.mark == "a"


def test_a_failure_names_the_line_in_its_own_folder(three: Any) -> None:
    old = three.job.folders["against"] / "model_new_ascendc.py"
    old.write_text(NEW.replace("return x * self.weight", "raise ValueError('old')"))
    three.load(0)
    three.construct(0, "against")
    told = answer(three, {"do": "first", "case": 0, "side": "against"})["failure"]
    assert told["side"] == "against" and told["message"] == "ValueError: old (model_new_ascendc.py:14 in forward)"


def test_a_module_that_the_older_build_lacks_is_not_taken_from_the_candidate(three: Any, refused: Any) -> None:
    (three.job.folders["against"] / "kernel" / "build" / "kernel_of_this.py").unlink()
    three.load(0)
    three.construct(0, "candidate")
    error = refused(three.construct, 0, "against")
    assert (error.stage, error.side) == ("import", "against") and "kernel_of_this" in str(error.error)


@pytest.mark.skipif(XX is None, reason="this Python has no xxlimited to copy")
def test_extensions_of_one_name_are_both_loaded_and_equal_ones_are_told(three: Any) -> None:
    """mindie-agent/mindie-agent#66: two implementations whose shared library has the same hash."""
    folders = [three.job.folders[side] for side in ("candidate", "against")]
    for folder in folders:
        shutil.copy(XX, folder / "kernel" / "build")
        source = (folder / "model_new_ascendc.py").read_text()
        (folder / "model_new_ascendc.py").write_text(source.replace("import kernel", "import xxlimited\nimport kernel"))
    prepare(three)
    assert [mapped_below(folder) for folder in folders] == [
        [str(folder / "kernel" / "build" / XX.name)] for folder in folders
    ]
    note = next(note for note in three.watch.notes() if note["code"] == "same_library")
    assert note["figures"]["against"] == str(folders[1] / "kernel" / "build" / XX.name)
    assert "xxlimited" in sys.modules and sys.modules["xxlimited"].__file__.startswith(str(folders[0]))
    del sys.modules["xxlimited"]


def test_libraries_that_differ_are_no_pair(tmp_path: Path) -> None:
    assert same_libraries(tmp_path / "a", tmp_path / "b") == []


def test_one_folder_alone_is_never_taken_from_the_import_path(tmp_path: Path) -> None:
    before = list(sys.path)
    folders = Folders({"reference": tmp_path, "candidate": tmp_path})
    with folders.active("candidate"):
        assert sys.path == [str(tmp_path), str(tmp_path / "kernel" / "build"), *before]
    sys.path[:] = before
