"""What a run says while it goes on: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from msprun.model.plan import Plan
from msprun.model.result import CaseRow, Result
from msprun.render import TAB, fit, macro, pad, render, width
from msprun.report.json import ascii_text
from msprun.report.overview import overview
from msprun.report.stream import Stream, is_terminal
from msprun.report.summary import summary

if TYPE_CHECKING:
    from rich.console import Console as Terminal
    from rich.console import RenderableType
    from rich.live import Live

_TEMPLATE = "console.j2"
_ALIGNS = {True: "><<<<", False: "><<<>>>>>"}
_STYLES = {
    "incorrect": "bold red", "failed": "bold red", "skipped": "dim", "faster": "blue", "slower": "yellow",
}  # fmt: skip
_LINE_WIDTHS = {True: (4, 0, 0, 21, 12), False: (4, 0, 0, 21, 10, 10, 8, 15, 10)}
_SHAPE_COLUMNS = 40
_DTYPE_COLUMNS = 24
_WIDE_COLUMNS = 110


class _Shown(NamedTuple):
    """A case as the table has it: the codes that choose its colours, and its cells in words."""

    status: str
    verdict: str
    cells: list[str]


class _Layout(NamedTuple):
    """How the live table is drawn."""

    aligns: str
    is_narrow: bool
    caption: str | None


class Console:
    """Speaks to stdout; with `print_mode="json"` stdout gets one JSON object and stderr the rest.

    Use it as a context, so that an exception leaves the terminal in order. `lang` is `en` or `zh`.
    """

    def __init__(self, print_mode: Literal["text", "json"], stdout: TextIO, stderr: TextIO, lang: str = "en") -> None:
        self._is_json = print_mode == "json"
        self._lang = lang
        self._out = Stream(stdout)
        self._say = Stream(stderr) if self._is_json else self._out
        self._rows: dict[int, _Shown] = {}
        self._printed: dict[int, list[str]] = {}
        self._widths: tuple[int, ...] = _LINE_WIDTHS[False]
        self._check_only = False
        self._latest = 0
        self._live: Live | None = None
        self._terminal: Terminal | None = None
        if is_terminal(self._say, os.environ):
            self._terminal = _terminal(self._say)

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, plan: Plan) -> None:
        """Name the run and show every case that will run."""
        self._check_only = plan.mode == "check"
        cases = {case.index: case for case in plan.operator.cases}
        self._rows = {
            i: _Shown("pending", "", self._said("waiting", cases[i], self._check_only).split(TAB)) for i in plan.cases
        }
        self.note(self._said("start", plan))
        if self._terminal and plan.cases:
            self._latest = plan.cases[0]
            self._live = _live(self._terminal, self._table(is_final=False))
        else:
            self._widths = self._line_widths(self._heads())
            self._line(self._heads())

    def update(self, row: CaseRow) -> None:
        """Show what is known of a case by now; without a terminal, once nothing more will come."""
        self._rows[row.case] = self._shown(row)
        if self._live:
            self._latest = row.case
            self._live.update(self._table(is_final=False), refresh=True)
        elif _is_final(row, self._check_only):
            self._line_once(row.case)

    def note(self, text: str) -> None:
        """One remark, above the live table if there is one."""
        if self._live:
            from rich.text import Text

            self._live.console.print(Text(fit(text, 2000)))
        else:
            self._say.line(fit(text, 2000))

    def unwritten(self, error: OSError) -> None:
        """Something that belongs on disk is not there."""
        self.note(self._said("unwritten", error))

    def finish(self, result: Result, folder: Path | None) -> None:
        """The last state of every case, then the summary; the JSON object where it was asked for."""
        self._check_only = result.profiling_mode == "check"
        for row in result.per_case:
            self._rows[row.case] = self._shown(row)
            if not self._live:
                self._line_once(row.case)
        self.close()
        where = None if folder is None else str(folder)
        self._say.line("\n" + self._said("summary", result, overview(result), where).rstrip("\n"))
        if self._is_json:
            self._out.line(ascii_text(summary(result, folder)))

    def plan(self, plan: Plan) -> None:
        """The whole plan for `dry_run`: a tree, or JSON of any length."""
        if self._is_json:
            self._out.line(ascii_text(plan, indent=2))
            return
        outline = render("plan.txt.j2", self._lang, plan=plan).rstrip("\n")
        if self._terminal:
            self._terminal.print(_tree(outline))
        else:
            self._say.line(outline)

    def close(self) -> None:
        """Stop the live table; its last state stays. May be called twice."""
        if self._live:
            live, self._live = self._live, None
            live.update(self._table(is_final=True))
            live.stop()

    def _line_once(self, case: int) -> None:
        cells = self._rows[case].cells
        if self._printed.get(case) != cells:
            self._printed[case] = cells
            self._line(cells)

    def _line(self, cells: list[str]) -> None:
        limits = dict(enumerate((99, _SHAPE_COLUMNS, _DTYPE_COLUMNS)))
        shown = [fit(cell, limits.get(i, 99)) for i, cell in enumerate(cells)]
        aligned = zip(shown, self._widths, _ALIGNS[self._check_only], strict=True)
        self._say.line("  ".join(pad(cell, columns, align) for cell, columns, align in aligned).rstrip())

    def _line_widths(self, heads: list[str]) -> tuple[int, ...]:
        seen = [heads, *(shown.cells for shown in self._rows.values())]
        shape = min(_SHAPE_COLUMNS, max(width(cells[1]) for cells in seen))
        dtype = min(_DTYPE_COLUMNS, max(width(cells[2]) for cells in seen))
        return (4, shape, dtype, *_LINE_WIDTHS[self._check_only][3:])

    @property
    def _is_narrow(self) -> bool:
        return self._terminal is not None and self._terminal.width < _WIDE_COLUMNS

    def _said(self, name: str, *arguments: Any) -> str:
        return macro(_TEMPLATE, name, *arguments, lang=self._lang)

    def _heads(self) -> list[str]:
        return self._said("heads", self._check_only, self._is_narrow).split(TAB)

    def _shown(self, row: CaseRow) -> _Shown:
        cells = self._said("cells", row, self._check_only, self._is_narrow).split(TAB)
        return _Shown(row.status, row.paired.verdict if row.paired else "", cells)

    def _table(self, is_final: bool) -> RenderableType:
        """The table; while it lives, only as many cases as the terminal has room for, about the one that runs."""
        assert self._terminal
        cases = list(self._rows)
        room = max(self._terminal.height // 2 - 3, 3)
        done = sum(shown.status != "pending" for shown in self._rows.values())
        if not is_final and len(cases) > room:
            first = min(max(cases.index(self._latest) - room // 2, 0), len(cases) - room)
            cases = cases[first : first + room]
        caption = None if is_final else self._said("progress", done, len(self._rows))
        layout = _Layout(_ALIGNS[self._check_only], self._is_narrow, caption)
        return _rich_table(self._heads(), [self._rows[case] for case in cases], layout)


def _is_final(row: CaseRow, check_only: bool) -> bool:
    """Later visits may still change the times of a case that has not stopped."""
    if row.status in ("measured", "one_sided"):
        return row.stop is not None
    return row.status in ("incorrect", "failed", "skipped") or (row.status == "checked" and check_only)


def _terminal(stream: Any) -> Terminal:
    from rich.console import Console as Terminal

    return Terminal(file=stream, force_terminal=True, highlight=False, markup=False, emoji=False)


def _live(terminal: Terminal, table: RenderableType) -> Live:
    from rich.live import Live

    # Refreshed by hand: a thread that draws would take time from the calls being measured.
    live = Live(table, console=terminal, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
    live.start(refresh=True)
    return live


def _rich_table(heads: list[str], rows: list[_Shown], layout: _Layout) -> RenderableType:
    """The table in one width for all columns but the shape, which takes what is left and folds."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    gap = 0 if layout.is_narrow else 1
    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), show_edge=False, caption=layout.caption, caption_justify="left"
    )
    fixed = {2: 10 if layout.is_narrow else 24, 3: 11 if layout.is_narrow else 24}
    for index, (head, align) in enumerate(zip(heads, layout.aligns, strict=True)):
        longest = max((width(shown.cells[index]) for shown in rows), default=0)
        table.add_column(
            head, justify="right" if align == ">" else "left", no_wrap=index not in (1, 2, 3), overflow="fold",
            width=min(max(longest, width(head)), fixed[index]) if index in fixed else None,
        )  # fmt: skip
    for status, verdict, cells in rows:
        styles = {len(cells) - 1: _STYLES.get(verdict, ""), 3: _STYLES.get(status, "")}
        fitted = [fit(cell, 36 if layout.is_narrow else 120) for cell in cells]
        table.add_row(*(Text(cell, style=styles.get(i, "")) for i, cell in enumerate(fitted)))
    return table


def _tree(outline: str) -> RenderableType:
    """The indented lines as a tree."""
    from rich.text import Text
    from rich.tree import Tree

    lines = outline.splitlines()
    root = Tree(Text(lines[0]), highlight=False)
    branches = [root]
    for line in lines[1:]:
        depth = (len(line) - len(line.lstrip(" "))) // 2
        branches[depth:] = [branches[depth - 1].add(Text(line.strip()))]
    return root
