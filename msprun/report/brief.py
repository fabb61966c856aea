"""What one job of a sweep says: its live table on a terminal, one line elsewhere; the sweep says the rest."""

from __future__ import annotations

from pathlib import Path

from msprun.model.plan import Plan
from msprun.model.result import CaseRow, Result
from msprun.render import macro
from msprun.report.console import Console
from msprun.report.overview import overview
from msprun.report.sweep import reason


class Brief(Console):
    """A console that without a terminal only says how the run ended."""

    def start(self, plan: Plan) -> None:
        """Name the run and show its cases on a terminal."""
        if self._terminal:
            super().start(plan)

    def update(self, row: CaseRow) -> None:
        """Show what is known of a case by now on a terminal."""
        if self._terminal:
            super().update(row)

    def finish(self, result: Result, folder: Path | None) -> None:
        """All of the run on a terminal; elsewhere one line, and one more about what went wrong."""
        if self._terminal:
            super().finish(result, folder)
            return
        view = overview(result)
        self._say.line("  " + macro("words.j2", "headline", result, view, lang=self._lang))
        if result.against:
            self._say.line("  " + macro("words.j2", "against", result, view, lang=self._lang))
        if why := reason(view, self._lang):
            self.note("  " + why)
