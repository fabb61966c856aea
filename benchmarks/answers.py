"""Row 5: --help, --version and a completion query against a Python that does nothing."""

from __future__ import annotations

from benchmarks.pairs import Timed
from benchmarks.place import Broken, Place

ROUNDS, ROUNDS_QUICK = 40, 5
LINE = "msprun mode="
EXPECTED = {"--help": "mode=quick", "--version": "msprun ", "completion": "mode=quick"}


def contenders(place: Place) -> dict[str, Timed]:
    """Python alone, and the answers that this msprun gives."""
    words = {"--help": ("--help",), "--version": ("--version",), "completion": ("-sc", "query=bash")}
    found: dict[str, Timed] = {"bare python": lambda number: place.seconds((*place.python, "-c", "pass"))}
    return found | {name: _answer(place, name, (*place.msprun, *more)) for name, more in words.items()}


def completes(place: Place) -> bool:
    """Whether completion is built: asked once, untimed."""
    try:
        _answer(place, "completion", (*place.msprun, "-sc", "query=bash"))(0)
    except Broken:
        return False
    return True


def _answer(place: Place, name: str, argv: tuple[str, ...]) -> Timed:
    environment = {**place.environment, "COMP_LINE": LINE, "COMP_POINT": str(len(LINE))}

    def work(number: int) -> float:
        elapsed = place.seconds(argv, environment)
        if EXPECTED[name] not in place.said("stdout"):
            raise Broken(f"{' '.join(argv)} does not say {EXPECTED[name]!r}")
        return elapsed

    return work
