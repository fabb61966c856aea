"""The words of the command line as Hydra reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun import argv


def test_flags_go_behind_the_overrides(tmp_path: Path) -> None:
    words = argv.read(["a=1", "-m", "b=2", "--cfg", "job", "--info", "c=3", "--info", "config"], tmp_path)
    assert words.overrides == ("a=1", "b=2", "c=3")
    assert words.flags == ("-m", "--cfg", "job", "--info", "--info", "config")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("op=glob(*)", "op=glob(*)"),
        ("op=add,softmax", "op=add,softmax"),
        ("op='add'", "op='add'"),
        ("op=3", "op='3'"),
        ("op=add,/x,'/y,z'", "op=add,'/x','/y,z'"),
        ("op=/it's", "op='/it\\'s'"),
        ("++op=/x", "++op='/x'"),
        ("check=off,strict", "check=none,strict"),
        ("experiment=smoke", "+experiment=smoke"),
        ("+experiment=smoke", "+experiment=smoke"),
        ("operator=./x", "operator=./x"),
        ("op.dir=./x", "op.dir=./x"),
    ],
)
def test_words_are_rewritten_for_hydra(tmp_path: Path, typed: str, read: str) -> None:
    assert argv.read([typed], tmp_path).overrides == (read,)
