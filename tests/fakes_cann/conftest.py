"""What the tests of the emulated tools share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes_cann.apps import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A host of its own for each test."""
    return Machine(tmp_path)
