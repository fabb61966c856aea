"""In which language pages and console speak, and their words: `templates/strings/<language>.json`."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from msprun import suggest
from msprun.errors import ConfigError
from msprun.resources import data_folder

LANGUAGES = ("en", "zh")
VARIABLE = "MSPRUN_LANG"
# In the order in which POSIX lets them decide about messages; the first that is not empty decides.
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


class Choice(Struct, frozen=True, kw_only=True):
    """A language, whether the environment or nobody chose it, and the variable that did."""

    lang: str
    source: Literal["env", "auto"]
    why: str


def choose(environ: Mapping[str, str]) -> Choice:
    """The language for `lang=auto`: MSPRUN_LANG, then the locale, else English.

    Raises ConfigError for a MSPRUN_LANG that is no language of msprun; locales of other languages mean English.
    """
    wanted = environ.get(VARIABLE, "").strip()
    if wanted and wanted.lower() != "auto":
        if (lang := _language(wanted)) not in LANGUAGES:
            meant = suggest.did_you_mean(wanted, ["auto", *LANGUAGES])
            raise ConfigError(f"{VARIABLE}={wanted} is no language of msprun{meant}", f"{VARIABLE} is auto, en or zh")
        return Choice(lang=lang, source="env", why=f"{VARIABLE}={wanted}")
    for name in LOCALE:
        if value := environ.get(name, ""):
            lang = _language(value)
            return Choice(lang=lang if lang in LANGUAGES else "en", source="env", why=f"{name}={value}")
    return Choice(lang="en", source="auto", why=f"neither {VARIABLE} nor a locale is set")


def _language(name: str) -> str:
    """`zh_CN.UTF-8`, `zh-Hans` and `ZH` are `zh`."""
    return name.partition(".")[0].partition("_")[0].partition("-")[0].lower()


class Words:
    """The words of one language, read when the first is wanted."""

    def __init__(self, lang: str, folder: Path | None = None) -> None:
        self.lang = lang
        self._folder = folder

    def __call__(self, key: str, /, **figures: Any) -> str:
        """The text of a dotted key with its `{placeholders}` filled; `count` chooses between one and other.

        Raises KeyError for a key, or a placeholder, that is not there.
        """
        found: Any = self._tree
        for part in key.split("."):
            found = found[part]
        if isinstance(found, Mapping):
            found = found["one"] if figures.get("count") == 1 and "one" in found else found["other"]
        return str(found).format(**figures)

    def word(self, table: str, code: str) -> str:
        """The word for a code of a table; a code that is not there shows itself, since plug-ins bring their own."""
        found = self._tree[table].get(code)
        return found if isinstance(found, str) else code

    @functools.cached_property
    def _tree(self) -> dict[str, Any]:
        folder = self._folder or data_folder("templates") / "strings"
        tree: dict[str, Any] = json.loads((folder / f"{self.lang}.json").read_text(encoding="utf-8"))
        return tree
