"""Folders of older builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from msprun.errors import ConfigError
from msprun.model.operator import Implementation, Older, Operator
from msprun.schema import Op, Side
from msprun.source.digest import digests, is_same_build
from msprun.source.older import load_older

NEW = "class ModelNew: ...\n"


def asked(file: str = "model_new_ascendc.py") -> Op:
    return Op(candidate=Side(file=file, cls="ModelNew", env={"A": "1"}))


def write(folder: Path, text: str = NEW, library: bytes = b"") -> Path:
    (folder / "kernel" / "build").mkdir(parents=True)
    (folder / "model.py").write_text("class Model: ...\n")
    (folder / "model_new_ascendc.py").write_text(text)
    if library:
        (folder / "kernel" / "build" / "op.so").write_bytes(library)
    return folder


def test_an_older_build_is_the_candidate_in_another_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "old")
    older = load_older(folder, asked(), compile_sources=True)
    assert older == Older(file=folder / "model_new_ascendc.py", cls="ModelNew", env=(("A", "1"),), folder=folder)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("nowhere", "nowhere is not there", "against=DIR"),
        ("old/model.py", "model.py is a file", "against=DIR"),
        ("old/kernel", "has no model_new_ascendc.py (candidate)", "op.candidate.file=FILE"),
        (".", "has no model_new_ascendc.py (candidate)", "type against="),
    ],
)
def test_a_folder_that_is_none_is_one_line(tmp_path: Path, name: str, message: str, hint: str) -> None:
    write(tmp_path / "old")
    with pytest.raises(ConfigError) as caught:
        load_older(tmp_path / name, asked(), compile_sources=True)
    assert caught.value.message.startswith("against: ") and message in caught.value.message
    assert caught.value.hint is not None and hint in caught.value.hint


def test_a_candidate_with_an_absolute_path_would_be_its_own_older_build(tmp_path: Path) -> None:
    folder = write(tmp_path / "old")
    with pytest.raises(ConfigError, match="would be the older build too"):
        load_older(folder, asked(str(folder / "model_new_ascendc.py")), compile_sources=True)


def test_a_syntax_error_has_its_file_and_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "old", "import torch\n\ndef f(:\n")
    with pytest.raises(ConfigError, match="model_new_ascendc.py:3"):
        load_older(folder, asked(), compile_sources=True)
    assert load_older(folder, asked(), compile_sources=False).folder == folder


def operator(folder: Path, old: Path) -> Operator:
    return Operator(
        name="my_op", folder=folder, cases=(), cases_file=None, origin="provider",
        reference=Implementation(file=folder / "model.py", cls="Model"),
        candidate=Implementation(file=folder / "model_new_ascendc.py", cls="ModelNew"),
        against=load_older(old, asked(), compile_sources=False),
    )  # fmt: skip


def test_files_of_the_older_build_are_known_too(tmp_path: Path) -> None:
    made = operator(write(tmp_path / "new"), write(tmp_path / "old", library=b"v1"))
    seen = digests(made)
    assert set(seen) == {
        "model.py", "model_new_ascendc.py", "../old/model_new_ascendc.py", "../old/kernel/build/op.so",
    }  # fmt: skip
    (tmp_path / "old" / "kernel" / "build" / "op.so").write_bytes(b"v2")
    assert {name for name, digest in digests(made).items() if digest != seen[name]} == {"../old/kernel/build/op.so"}


@pytest.mark.parametrize(
    ("text", "library", "same"),
    [(NEW, b"v1", True), (NEW, b"v2", False), (NEW, b"", False), (NEW + "#\n", b"v1", False)],
)
def test_a_build_that_was_not_built_again_is_seen(tmp_path: Path, text: str, library: bytes, same: bool) -> None:
    """mindie-agent/mindie-agent#66: both sides ran the same binary."""
    made = operator(write(tmp_path / "new", library=b"v1"), write(tmp_path / "old", text, library))
    assert is_same_build(made, digests(made)) is same
    assert not is_same_build(replace(made, against=None), digests(made))
