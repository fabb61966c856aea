"""Streams whose reader leaves, or whose encoding is small."""

from __future__ import annotations

import io
import os
from typing import Any

import pytest

from msprun.report.stream import Stream, is_terminal


def closed_pipe() -> tuple[Any, int]:
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w"), writing


def test_closed_pipe_swallows_the_rest() -> None:
    file, _ = closed_pipe()
    stream = Stream(file)
    for _ in range(3):
        stream.line("x" * 100_000)
    file.flush()
    file.close()


def test_a_terminal_that_was_closed_swallows_the_rest() -> None:
    master, slave = os.openpty()
    os.close(master)
    file = os.fdopen(slave, "w")
    stream = Stream(file)
    for _ in range(3):
        stream.line("x" * 100_000)
    file.close()


def test_any_other_fault_of_a_stream_is_told() -> None:
    stream = Stream(open("/dev/full", "w"))  # noqa: SIM115
    with pytest.raises(OSError, match="No space left"):
        stream.line("x" * 100_000)


def test_letters_that_the_encoding_lacks_are_escaped() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    Stream(file).line("– 算 \udcff")
    assert raw.getvalue() == b"\\u2013 \\u7b97 \\udcff\n"


@pytest.mark.parametrize(("term", "answer"), [("xterm", True), ("dumb", False), ("", False), (None, False)])
def test_terminal_must_be_able_to_move_its_cursor(tty: Any, term: str | None, answer: bool) -> None:
    assert is_terminal(Stream(tty), {} if term is None else {"TERM": term}) is answer


def test_file_is_no_terminal() -> None:
    assert not is_terminal(Stream(io.StringIO()), {"TERM": "xterm"})
