"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write beside the target, then rename over it. Raises OSError when the disk or the rights refuse."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
