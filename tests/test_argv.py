"""The words of the command line as Hydra reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.text())
def test_a_quoted_text_is_unquoted_to_itself(text: str) -> None:
    assert argv.unquoted(argv.quoted(text)) == text


@pytest.mark.parametrize(
    ("value", "text"), [('"a b"', "a b"), ("plain", "plain"), ("'", "'"), ("[0,1]", "[0,1]"), ("'it\\'s'", "it's")]
)
def test_values_that_others_quoted_are_unquoted(value: str, text: str) -> None:
    assert argv.unquoted(value) == text
