"""The guards of the suite guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_an_unmarked_test_cannot_start_a_process() -> None:
    with pytest.raises(pytest.fail.Exception, match="may not start a process"):
        subprocess.run([sys.executable, "-c", ""], check=False)


@pytest.mark.parametrize("starter", ["fork", "posix_spawn", "execv", "system"])
def test_an_unmarked_test_cannot_go_round_subprocess(starter: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="may not start a process"):
        getattr(os, starter)("/bin/true")


@pytest.mark.process
def test_a_marked_test_can_start_a_process() -> None:
    assert subprocess.run([sys.executable, "-c", "raise SystemExit(7)"], check=False).returncode == 7


def test_a_test_lives_in_an_empty_world(own_world: Path) -> None:
    assert Path.cwd() == own_world and list(own_world.iterdir()) == []
    assert list(Path.home().iterdir()) == []
    assert not [name for name in os.environ if name.startswith("MSPRUN_") and name != "MSPRUN_SAMPLES"]


@pytest.mark.process
def test_permission_bits_count_for_the_unprivileged(unprivileged) -> None:
    locked = unprivileged.folder / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    with pytest.raises(PermissionError):
        unprivileged.call((locked / "file").write_text, "no")
    assert unprivileged.call((unprivileged.folder / "file").write_text, "yes") == 3


@pytest.mark.process
def test_the_unprivileged_are_not_root(unprivileged) -> None:
    assert unprivileged.call(os.geteuid) != 0
    assert os.geteuid() == os.getuid()
