"""Captures after they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.measure import tidy


def capture(root: Path, name: str, size: int = 10) -> Path:
    folder = root / name
    (folder / "device_0").mkdir(parents=True)
    (folder / "device_0" / "data").write_bytes(b"x" * size)
    return folder


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_what_was_read_goes_and_what_failed_stays(tmp_path: Path) -> None:
    made = [capture(tmp_path, name) for name in "abc"]
    tidy.tidy(made, [made[1]])
    assert left(tmp_path) == ["b"]


def test_of_five_failures_the_newest_three_stay(tmp_path: Path) -> None:
    made = [capture(tmp_path, name) for name in "abcde"]
    tidy.tidy([], made)
    assert left(tmp_path) == ["c", "d", "e"]


def test_no_more_stays_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "KEPT_BYTES", 100)
    made = [capture(tmp_path, "a", 30), capture(tmp_path, "b", 60), capture(tmp_path, "c", 40)]
    tidy.tidy([], made)
    assert left(tmp_path) == ["b", "c"]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    outside = capture(tmp_path, "outside", 5)
    link = tmp_path / "link"
    link.symlink_to(outside)
    tidy.tidy([link], [])
    assert (outside / "device_0" / "data").exists()
    assert tidy.size(tmp_path) < 200  # the link counts as itself, not as what it leads to
