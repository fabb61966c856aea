"""Pages of a result: code writes some, templates the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msprun.disk import write_atomically
from msprun.errors import ConfigError
from msprun.model.measurement import Sample
from msprun.model.result import Result
from msprun.render import render
from msprun.report import csv, json
from msprun.report.overview import overview

REPORTS: dict[str, Callable[[Result, Sequence[Sample], str], bytes]] = {"json": json.write, "csv": csv.write}


def write_pages(
    result: Result, samples: Sequence[Sample], pages: Sequence[tuple[str, str | None, str]], folder: Path, lang: str
) -> tuple[Path, ...]:
    """Write the pages (name, template, file) into `folder`; a template sees `result`, `overview` and `samples`.

    `lang` is `en` or `zh`. Raises ConfigError for a page that neither code nor a template makes, OSError when the disk
    refuses.
    """
    written = []
    for name, template, file in pages:
        if template is not None:
            page: str | bytes = render(template, lang, result=result, overview=overview(result), samples=samples)
        elif name in REPORTS:
            page = REPORTS[name](result, samples, lang)
        else:
            raise ConfigError(f"report={name} has no template and no code", f"give it pages.{name}.template=<file>")
        write_atomically(folder / file, page)
        written.append(folder / file)
    return tuple(written)
