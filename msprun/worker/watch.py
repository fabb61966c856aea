"""Operator code runs marked, from its own folder, and leaves the process as it found it."""

from contextlib import contextmanager

from . import flags
from .harness import Harness, Reference

REFERENCE = "reference"


class Watch:
    """Lends `running(side)`. What a side's code changed for the others is put right and told by `notes`."""

    def __init__(self, mark, folders):
        self.mark = mark
        self.folders = folders
        self.reference = Reference()
        self.harness = Harness()
        self.settings = flags.take()
        self.guards = []
        self.meddling = set()
        self.pending = []

    @contextmanager
    def running(self, side):
        """That side's code runs inside."""
        before = self.reference.look()
        try:
            with self.marked(side):
                yield
        finally:
            self.look_around(side, before)

    @contextmanager
    def marked(self, side):
        """That side's code runs inside, and nobody looks what it changed."""
        with self.mark.running(side), self.folders.active(side):
            yield

    def look_around(self, side, before):
        """Note and undo what this side has changed for all."""
        self.look_at_settings(side)
        touched = self.harness.touched()
        if side != REFERENCE:
            touched += self.reference.touched(before)
        if touched:
            self.tell("harness_touched", {"side": side, "what": touched})

    def look_at_settings(self, side):
        """Note and undo settings that this side has changed."""
        changed = flags.restore(self.settings, self.guards)
        if changed:
            self.meddling.add(side)
            self.tell("globals_changed", {"side": side, "what": changed, "timed_with": "before"})

    def tell(self, code, figures):
        """Keep a note for the next answer, each once."""
        note = {"code": code, "figures": figures}
        if note not in self.pending:
            self.pending.append(note)

    def notes(self):
        """The notes since the last answer."""
        told, self.pending = self.pending, []
        return told
