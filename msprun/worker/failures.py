"""Whatever operator code raises, as a value that the parent can show."""

import traceback
from contextlib import contextmanager
from pathlib import Path

MESSAGE_LENGTH = 400
TRACE_LENGTH = 20000
OUT_OF_MEMORY_TEXTS = ("out of memory", "not enough memory", "can't allocate memory", "cannot allocate memory")


class Refusal(Exception):
    """Something that the operator's folder lacks or says wrongly, in words of our own."""


class StageError(Exception):
    """An exception, SystemExit and KeyboardInterrupt included, with the stage and the side in which it came up."""

    def __init__(self, stage, side, error):
        super().__init__(stage, side, error)
        self.stage = stage
        self.side = side
        self.error = error


@contextmanager
def at(stage, side=None):
    """Name the stage of whatever is raised inside; the innermost name wins."""
    try:
        yield
    except StageError:
        raise
    except BaseException as error:
        raise StageError(stage, side, error) from error


def failure(staged, operator):
    """The protocol's failure of a StageError; `operator` is the folder whose own file and line the message names."""
    return {
        "stage": staged.stage,
        "side": staged.side,
        "kind": kind(staged.error),
        "message": message(staged.error, operator),
        "trace": trace(staged.error),
    }


def kind(error):
    """`exit`, `out_of_memory` or `exception`."""
    if isinstance(error, SystemExit):
        return "exit"
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "out_of_memory"
    if isinstance(error, RuntimeError) and any(words in text(error).lower() for words in OUT_OF_MEMORY_TEXTS):
        return "out_of_memory"
    return "exception"


def message(error, operator):
    """One line: type, text, and the last place of the operator's own files."""
    words = " ".join(text(error).split())
    if len(words) > MESSAGE_LENGTH:
        words = words[: MESSAGE_LENGTH - 3] + "..."
    if not isinstance(error, Refusal):
        words = "%s: %s" % (type(error).__name__, words) if words else type(error).__name__
    place = own_place(error, operator)
    return "%s (%s)" % (words, place) if place else words


def text(error):
    """The exception's text, even of one that cannot say it."""
    try:
        return str(error)
    except BaseException as second:
        return "no text, its __str__ raised %s" % type(second).__name__


def own_place(error, operator):
    """`file:line in function` of the innermost frame inside the operator's folder, or None."""
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%s" % (Path(error.filename).name, error.lineno)
    folder = Path(operator).resolve()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if folder in Path(frame.filename).resolve().parents:
            return "%s:%d in %s" % (Path(frame.filename).name, frame.lineno, frame.name)
    return None


def trace(error):
    """The traceback as text, its end where it is long."""
    try:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except BaseException:
        return "%s: the traceback could not be made" % type(error).__name__
    return lines[-TRACE_LENGTH:]
