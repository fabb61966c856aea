"""Devices leased among the runs of a host: a lock file each, held by a descriptor, so that no death locks it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec
from msgspec import Struct

from msprun.disk import write_atomically
from msprun.errors import MachineError

# Shared by all users of a host; containers share the first one where it is mounted into them.
FOLDERS = (Path("/var/lock/msprun"), Path("/tmp/msprun-lease"))
SHARED = 0o1777
SICK_FOR_S = 3600.0
_POLL_S = 0.25
_READ_LIMIT = 4096
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_Told = TypeVar("_Told", bound=Struct)


class Holder(Struct, frozen=True, kw_only=True):
    """Who has a lease: `since` is Unix time in seconds, `run` the name of the run folder."""

    pid: int
    user: str
    since: float
    run: str

    def __str__(self) -> str:
        began = time.strftime("%H:%M:%S", time.localtime(self.since))
        return f"{self.user} (process {self.pid}, since {began}, {self.run})"


class Sick(Struct, frozen=True, kw_only=True):
    """A device that failed in a fresh process too. `boot` is the host's boot, which a later one outlives."""

    pid: int
    user: str
    since: float
    why: str
    boot: str


class Lease:
    """A leased device. It is held while a descriptor of it is open anywhere: here, in msprof, in the worker.

    A child that is started as a program has none unless it is given `fds`; one that is only forked has a copy, as it
    has of everything. Neither can take the lease from us.
    """

    def __init__(self, name: str, fd: int) -> None:
        self.name = name
        self._fd: int | None = fd

    @property
    def fds(self) -> tuple[int, ...]:
        """What a child must be given so that it holds the lease with us."""
        return () if self._fd is None else (self._fd,)

    def release(self) -> None:
        """Give our share back. The device is free once every child that was given the lease has ended."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)  # unlocking would take it from the children as well

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


class Leases:
    """The leases of a folder, as one run of msprun sees them."""

    def __init__(self, folder: Path, run: str) -> None:
        self.folder = folder
        self._run = run

    def take(self, name: str, wait_s: float, say: Callable[[str], None]) -> Lease:
        """Lease a device; `say` hears once who has it meanwhile. Raises MachineError after `wait_s` seconds."""
        lease = self.try_take(name)
        if lease is None and wait_s > 0:
            say(f"waiting for {self.told(name)}")
            lease = self.wait(name, wait_s)
        if lease is None:
            raise self.refusal(name, wait_s)
        return lease

    def wait(self, name: str, wait_s: float) -> Lease | None:
        """Lease a device as soon as it is free; None where that is not within `wait_s` seconds."""
        end = time.monotonic() + wait_s
        while (lease := self.try_take(name)) is None and time.monotonic() < end:
            time.sleep(min(_POLL_S, max(0.0, end - time.monotonic())))
        return lease

    def told(self, name: str) -> str:
        """A device and who has it, for messages."""
        return f"{name}, leased by {self.holder(name) or 'somebody else'}"

    def refusal(self, name: str, wait_s: float) -> MachineError:
        """The error of who has waited in vain."""
        return MachineError(
            f"{name} is leased by {self.holder(name) or 'somebody else'}",
            f"choose another device, or wait longer: lease.wait_s={max(60.0, 2 * wait_s):g}",
        )

    def try_take(self, name: str) -> Lease | None:
        """Lease a device at once; None where somebody has it. Raises MachineError for a file that is none of ours."""
        path = self._file(name)
        for attempt in range(3):
            if attempt:  # whoever looks whether a device is free holds it for a moment
                time.sleep(0.01)
            fd = _open(path)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(fd, path):
                    holder = Holder(pid=os.getpid(), user=_user(), since=time.time(), run=self._run)
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, msgspec.json.encode(holder) + b"\n", 0)
                    return Lease(name, fd)
            except BlockingIOError:
                pass
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
        return None

    def is_taken(self, name: str) -> bool:
        """Somebody has this device, be it we in another descriptor."""
        path = self._file(name)
        if not os.path.lexists(path):
            return False
        fd = _open(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    def holder(self, name: str) -> Holder | None:
        """Who has a device; None where it is free or they did not say. What a killed run wrote is not believed."""
        if not self.is_taken(name):
            return None
        return _read(self._file(name), Holder)

    def mark_sick(self, name: str, why: str) -> None:
        """Have runs of the next hour, before this host boots again, choose other devices."""
        sick = Sick(pid=os.getpid(), user=_user(), since=time.time(), why=why, boot=_boot())
        mark = self.folder / f"{name}.{os.geteuid()}.sick"  # a file each: nobody can replace another user's
        with contextlib.suppress(OSError):
            write_atomically(mark, msgspec.json.encode(sick) + b"\n")
            os.chmod(mark, 0o644)

    def sick(self, name: str) -> Sick | None:
        """Why a device gets no work at the moment, by the newest mark."""
        told = (_read(mark, Sick) for mark in self.folder.glob(f"{name}.*.sick"))
        boot, now = _boot(), time.time()
        valid = [sick for sick in told if sick and sick.boot == boot and 0 <= now - sick.since < SICK_FOR_S]
        return max(valid, key=lambda sick: sick.since, default=None)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.lock"


def shared_folder(asked: Path | None) -> Path:
    """Where leases lie: `lease.dir`, else the first folder of `FOLDERS` that can be used by all users.

    Raises MachineError where there is none, since an unleased device would be measured by two at once.
    """
    reasons = []
    for folder in FOLDERS if asked is None else (asked.resolve(),):
        why_not = _prepare(folder, is_asked=asked is not None)
        if why_not is None:
            return folder
        reasons.append(f"{folder} {why_not}")
    raise MachineError(
        f"devices cannot be leased: {'; '.join(reasons)}", "name a folder that all users may write: lease.dir=/path"
    )


def present_folder(asked: Path | None) -> Path | None:
    """The folder that runs lease devices in at the moment, if any does; nothing is made."""
    for folder in FOLDERS if asked is None else (asked.resolve(),):
        if folder.exists() and _prepare(folder, is_asked=asked is not None) is None:
            return folder
    return None


def _prepare(folder: Path, *, is_asked: bool) -> str | None:
    """Make a folder fit; why it is not, where that fails. Folders in /tmp may have been put there by anybody."""
    try:
        if not os.path.lexists(folder):
            _make(folder, parents=is_asked)
        seen = folder.lstat()
    except OSError as error:
        return f"cannot be made: {error.strerror}"
    if not stat.S_ISDIR(seen.st_mode):
        return "is a link" if stat.S_ISLNK(seen.st_mode) else "is no folder"
    is_shared = stat.S_IMODE(seen.st_mode) & SHARED == SHARED
    if seen.st_uid not in (0, os.geteuid()) and not is_shared and not is_asked:
        return f"belongs to user {seen.st_uid} and is not shared (mode 1777)"
    return None if os.access(folder, os.W_OK | os.X_OK) else "may not be written by this user"


def _make(folder: Path, *, parents: bool) -> None:
    """A folder that all users may write; nobody ever sees it with other rights. Raises OSError."""
    if parents:
        folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".msprun-", dir=folder.parent))
    try:
        draft.chmod(SHARED)
        draft.rename(folder)
    except OSError:
        draft.rmdir()
        if not folder.is_dir():  # else another run was faster
            raise


def _open(path: Path) -> int:
    """The descriptor of a lock file that anybody of this host may have made. Raises MachineError for anything else.

    First without O_CREAT, which fs.protected_regular refuses for others' files in a sticky folder.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        try:
            fd = os.open(path, flags)
        except FileNotFoundError:
            try:
                fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(fd, 0o666)  # the umask cuts the mode
            except FileExistsError:
                fd = os.open(path, flags)
    except OSError as error:
        raise MachineError(
            f"{path} cannot be opened: {error.strerror}", "name another folder: lease.dir=/path"
        ) from error
    seen = os.fstat(fd)
    if not stat.S_ISREG(seen.st_mode) or seen.st_nlink > 1:
        os.close(fd)
        raise MachineError(f"{path} is no lock file of msprun's", "name another folder: lease.dir=/path")
    return fd


def _is_at(fd: int, path: Path) -> bool:
    """The locked file is still the one of this name: a cleaner of /tmp may have taken it away meanwhile."""
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except OSError:
        return False


def _read(path: Path, kind: type[_Told]) -> _Told | None:
    """What a small file says; None where it is not there, is none of ours or says something else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        return msgspec.json.decode(os.read(fd, _READ_LIMIT), type=kind)
    except (OSError, msgspec.DecodeError):
        return None
    finally:
        os.close(fd)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def _boot() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
