"""The command: answers --help and --version, hands the rest to app, turns exceptions into words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from msprun import __version__
from msprun.errors import MsprunError

BUG = 1
REFUSED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code (0, 1, 2, 3, 4 or 130)."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _answer(words)
        sys.stdout.flush()
        return code
    except MsprunError as error:
        return _refuse(error, words)
    except KeyboardInterrupt:
        print("msprun: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away; without this Python complains again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BUG
    except Exception:
        import traceback

        traceback.print_exc()
        print("msprun: this is a bug in msprun; please report it with the lines above", file=sys.stderr)
        return BUG


def wants_traceback() -> bool:
    """HYDRA_FULL_ERROR=1 asks for the whole story of an error."""
    return os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0")


def _answer(words: list[str]) -> int:
    asked = words[: words.index("--")] if "--" in words else words
    if "--help" in asked or "-h" in asked:
        from msprun.usage import page

        print(page(), end="")
        return 0
    if "--version" in asked:
        print(f"msprun {__version__}")
        return 0
    if "-sc" in asked or "--shell-completion" in asked:
        from msprun import completion

        sys.stdout.buffer.write(completion.answer(asked, os.environ))
        return 0
    from msprun import spare

    waiting = spare.start(words, os.environ)
    try:
        from msprun import app

        return app.run(words, waiting)
    finally:
        if waiting is not None:
            waiting.dismiss()


def _refuse(error: MsprunError, words: list[str]) -> int:
    from msprun import argv, retype, suggest

    error = retype.retold(error, words)

    if wants_traceback():
        import traceback

        traceback.print_exception(error)
    print(suggest.lines(error), file=sys.stderr)
    if argv.wants_json(words):
        print(suggest.as_json(error), flush=True)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
