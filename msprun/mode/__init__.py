"""What can be asked: one module a mode."""

from __future__ import annotations

from msprun.contract import Mode
from msprun.mode import check, quick

MODES: dict[str, Mode] = {"check": check, "quick": quick}
