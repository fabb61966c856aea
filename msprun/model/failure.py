"""Why a case has no number."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Stage = Literal[
    "build", "launch", "import", "inputs", "construct", "first_call", "check", "timing", "breakdown", "accounting",
]  # fmt: skip


class Failure(Struct, frozen=True, kw_only=True):
    """One failure. `kind` is the field's word for it: exception, crash, signal, exit, timeout, channel, out_of_memory.

    `message` is one line; `log` is the file that says more, relative to the run folder.
    """

    stage: Stage
    kind: str
    message: str
    acl_code: int | None = None
    log: str | None = None
    hint: str | None = None
