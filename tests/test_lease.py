"""Leases between real processes: held by whoever has the descriptor, gone with its last holder, safe in /tmp."""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from pathlib import Path

import msgspec
import pytest

from msprun import lease, process
from msprun.errors import MachineError
from msprun.lease import Leases, shared_folder
from msprun.model.plan import Command
from tests.conftest import Unprivileged

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[1]
TAKES = """
import sys, time
from pathlib import Path
from msprun.lease import Leases
held = Leases(Path(sys.argv[1]), "other-run").take("npu0", float(sys.argv[2]), lambda words: print(words, flush=True))
print("taken", time.time(), flush=True)
time.sleep(float(sys.argv[3]))
print("released", time.time(), flush=True)
held.release()
"""


def silent(words: str) -> None:
    return None


def start(folder: Path, number: int, *words: str, text: str = TAKES, fds: tuple[int, ...] = ()) -> process.Child:
    command = Command(
        argv=(sys.executable, "-c", text, *words),
        cwd=folder,
        env=tuple({**os.environ, "PYTHONPATH": str(ROOT)}.items()),
        stdout=folder / f"out{number}",
        stderr=folder / f"err{number}",
    )
    return process.Child(command, fds=fds)


def await_word(file: Path, word: str) -> str:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if file.exists() and word in file.read_text():
            return file.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{file} never said {word}: {file.with_name('err' + file.name[3:]).read_text()}")


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    folder = tmp_path / "leases"
    folder.mkdir()
    return Leases(folder, "this-run")


def test_a_device_is_free_again_at_once_when_its_holder_is_killed(leases: Leases, tmp_path: Path) -> None:
    child = start(tmp_path, 0, str(leases.folder), "0", "600")
    await_word(tmp_path / "out0", "taken")
    assert leases.try_take("npu0") is None
    holder = leases.holder("npu0")
    assert holder is not None
    assert (holder.pid, holder.run) == (child.pid, "other-run")
    assert abs(holder.since - time.time()) < 60
    os.kill(child.pid, signal.SIGKILL)
    child.wait(10)
    assert leases.holder("npu0") is None  # the text that the dead left behind is not believed
    with leases.take("npu0", 0, silent) as held:
        assert held.fds


def test_a_refusal_says_who_has_the_device_and_how_to_wait_longer(leases: Leases, tmp_path: Path) -> None:
    child = start(tmp_path, 0, str(leases.folder), "0", "600")
    await_word(tmp_path / "out0", "taken")
    with pytest.raises(MachineError) as caught:
        leases.take("npu0", 0, silent)
    child.end(at_once=True)
    assert caught.value.message.startswith("npu0 is leased by ")
    assert f"process {child.pid}, since " in caught.value.message and "other-run" in caught.value.message
    assert caught.value.hint is not None and "lease.wait_s=60" in caught.value.hint


def test_who_waits_is_told_once_and_gets_the_device_when_it_is_free(leases: Leases, tmp_path: Path) -> None:
    start(tmp_path, 0, str(leases.folder), "0", "1")
    await_word(tmp_path / "out0", "taken")
    told: list[str] = []
    with leases.take("npu0", 60, told.append):
        assert len(told) == 1
        assert told[0].startswith("waiting for npu0, leased by ") and "other-run" in told[0]
        released = float(await_word(tmp_path / "out0", "released").split()[-1])
        assert time.time() >= released


def test_two_at_once_never_hold_the_same_device(leases: Leases, tmp_path: Path) -> None:
    children = [start(tmp_path, number, str(leases.folder), "60", "0.3") for number in range(4)]
    spans = []
    for number, child in enumerate(children):
        outcome = child.wait(60)
        assert outcome is not None and outcome.returncode == 0, (tmp_path / f"err{number}").read_text()
        words = (tmp_path / f"out{number}").read_text().split()
        spans.append((float(words[words.index("taken") + 1]), float(words[words.index("released") + 1])))
    spans.sort()
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:], strict=False))


def test_a_child_that_was_given_the_lease_holds_it_after_our_death(leases: Leases, tmp_path: Path) -> None:
    held = leases.take("npu0", 0, silent)
    child = start(tmp_path, 0, text="import time; print('up', flush=True); time.sleep(600)", fds=held.fds)
    await_word(tmp_path / "out0", "up")
    held.release()
    assert leases.is_taken("npu0")
    child.end(at_once=True)
    assert not leases.is_taken("npu0")


def test_a_child_that_was_not_given_the_lease_does_not_hold_it(leases: Leases, tmp_path: Path) -> None:
    held = leases.take("npu0", 0, silent)
    child = start(tmp_path, 0, text="import time; print('up', flush=True); time.sleep(600)")
    await_word(tmp_path / "out0", "up")
    held.release()
    assert not leases.is_taken("npu0")
    child.end(at_once=True)


def test_a_forked_child_that_gives_the_lease_back_does_not_take_it_from_us(leases: Leases) -> None:
    held = leases.take("npu0", 0, silent)
    child = os.fork()
    if child == 0:
        held.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert leases.is_taken("npu0")
    held.release()
    assert not leases.is_taken("npu0")


def test_looking_does_not_lease(leases: Leases) -> None:
    assert not leases.is_taken("npu0")
    assert list(leases.folder.iterdir()) == []
    leases.take("npu0", 0, silent).release()
    assert not leases.is_taken("npu0")
    assert leases.holder("npu0") is None
    assert leases.try_take("npu0") is not None


def test_devices_are_leased_apart(leases: Leases) -> None:
    with leases.take("npu0", 0, silent), leases.take("npu1", 0, silent):
        assert leases.is_taken("npu0") and leases.is_taken("npu1")


def test_a_lock_file_that_a_cleaner_took_away_is_made_anew(leases: Leases) -> None:
    held = leases.take("npu0", 0, silent)
    (leases.folder / "npu0.lock").unlink()
    again = leases.try_take("npu0")
    assert again is not None  # the file of this name is what binds
    assert leases.try_take("npu0") is None
    held.release()
    again.release()


def test_a_file_of_the_lock_must_be_a_plain_file_of_its_own(leases: Leases, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("do not lose me")
    (leases.folder / "npu0.lock").symlink_to(precious)
    os.link(precious, leases.folder / "npu1.lock")
    os.mkfifo(leases.folder / "npu2.lock")
    for name in ("npu0", "npu1", "npu2"):
        with pytest.raises(MachineError, match=f"{name}.lock"):
            leases.take(name, 0, silent)
    assert precious.read_text() == "do not lose me"


def test_a_user_may_take_over_the_lock_file_of_another(unprivileged: Unprivileged) -> None:
    folder = unprivileged.folder / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    mine = Leases(folder, "mine")
    held = mine.take("npu0", 0, silent)

    def by_another() -> tuple[bool, str]:
        theirs = Leases(folder, "theirs")
        return theirs.try_take("npu0") is None, str(theirs.holder("npu0"))

    refused, holder = unprivileged.call(by_another)
    assert refused and "mine" in holder
    held.release()
    assert unprivileged.call(lambda: Leases(folder, "theirs").try_take("npu0") is not None)
    assert stat.S_IMODE((folder / "npu0.lock").stat().st_mode) == 0o666


def test_the_folder_is_made_for_all_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lease, "FOLDERS", (tmp_path / "none" / "a", tmp_path / "b"))
    umask = os.umask(0o077)
    try:
        assert shared_folder(None) == tmp_path / "b"
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o1777
    assert shared_folder(None) == tmp_path / "b"
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_link_in_the_place_of_the_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "c").write_text("")
    monkeypatch.setattr(lease, "FOLDERS", (tmp_path / "a", tmp_path / "c"))
    with pytest.raises(MachineError, match=r"a is a link; .*c is no folder") as caught:
        shared_folder(None)
    assert caught.value.hint is not None and "lease.dir=" in caught.value.hint


def test_a_folder_of_another_user_is_shared_or_refused(
    monkeypatch: pytest.MonkeyPatch, unprivileged: Unprivileged
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can look at another user's folder as somebody else")
    theirs = unprivileged.folder / "theirs"
    unprivileged.call(lambda: os.mkdir(theirs, 0o755))
    monkeypatch.setattr(lease, "FOLDERS", (theirs,))
    with pytest.raises(MachineError, match="belongs to user 65534 and is not shared"):
        shared_folder(None)
    assert shared_folder(theirs) == theirs  # who names it trusts it
    unprivileged.call(lambda: os.chmod(theirs, 0o1777))
    assert shared_folder(None) == theirs


def test_a_folder_that_may_not_be_written_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, unprivileged: Unprivileged
) -> None:
    def chosen() -> str:
        closed, there = unprivileged.folder / "closed", unprivileged.folder / "open"
        closed.mkdir(mode=0o555)
        monkeypatch.setattr(lease, "FOLDERS", (closed, there))
        return shared_folder(None).name

    assert unprivileged.call(chosen) == "open"


def test_an_asked_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    asked = tmp_path / "x" / "y"
    assert shared_folder(asked) == asked
    assert stat.S_IMODE(asked.stat().st_mode) == 0o1777
    (tmp_path / "link").symlink_to(asked)
    assert shared_folder(tmp_path / "link") == asked


def test_a_sick_device_is_known_for_an_hour_to_every_run(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    assert leases.sick("npu0") is None
    leases.mark_sick("npu0", "507015 in a fresh process too")
    told = Leases(leases.folder, "another").sick("npu0")
    assert told is not None
    assert (told.pid, told.why) == (os.getpid(), "507015 in a fresh process too")
    assert leases.sick("npu1") is None
    later = time.time() + lease.SICK_FOR_S
    monkeypatch.setattr(time, "time", lambda: later + 1)
    assert leases.sick("npu0") is None


def test_a_sick_device_is_forgiven_when_the_host_has_booted_again(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases.mark_sick("npu0", "no answer")
    monkeypatch.setattr(lease, "_boot", lambda: "another boot")
    assert leases.sick("npu0") is None


@pytest.mark.parametrize("text", ["", "not JSON", "[]", '{"pid": "x"}', "{" * 100_000])
def test_a_mark_that_says_something_else_is_no_mark(leases: Leases, text: str) -> None:
    (leases.folder / "npu0.1.sick").write_text(text)
    assert leases.sick("npu0") is None


def test_the_newest_mark_counts(leases: Leases) -> None:
    for number, age_s in ((1, 30.0), (2, 10.0), (3, 20.0)):
        mark = lease.Sick(pid=number, user="u", since=time.time() - age_s, why=f"{age_s}", boot=lease._boot())
        (leases.folder / f"npu0.{number}.sick").write_bytes(msgspec.json.encode(mark))
    told = leases.sick("npu0")
    assert told is not None and told.pid == 2
