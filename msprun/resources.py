"""Where the files that travel with msprun lie: inside the package in a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_root() -> Path:
    """The folder that holds `conf/`, `templates/` and `examples/`."""
    for folder in (_PACKAGE, _PACKAGE.parent):
        if (folder / "conf" / "msprun.yaml").is_file():
            return folder
    raise FileNotFoundError("msprun is installed without its conf/ folder; install it again")


def data_folder(name: str) -> Path:
    """`conf`, `templates` or `examples`."""
    return data_root() / name
