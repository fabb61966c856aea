"""What keeps a session whole: death with its parent, a trace of a hang, an undisturbed channel, a mark of who runs."""

import ctypes
import faulthandler
import mmap
import os
import signal
import sys
from contextlib import contextmanager

from .protocol import IDLE, MARKS

PR_SET_PDEATHSIG = 1


def die_with_parent(parent):
    """End now if that process is gone, and on Linux as soon as it goes; 0 stands for whichever program started this."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent if parent else os.getppid() == 1:
        os._exit(1)


def tell_where():
    """Write the Python stack to stderr upon a fatal signal, and on SIGUSR1, which the parent sends before it kills."""
    faulthandler.enable(file=sys.stderr, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=sys.stderr, all_threads=True)


def hear_interrupts():
    """Let INT break off a call: a shell's `&` has it ignored in all that it starts, and the parent ends hangs by it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def divert_stdout():
    """Everything that anybody prints goes to stderr, line by line, since a crash flushes nothing."""
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)


class Mark:
    """The byte that says whose code runs, in memory shared through a file, so that it outlives a crash."""

    def __init__(self, path):
        self.memory = None
        self.byte = IDLE
        if path is not None:
            with open(str(path), "r+b") as file:
                self.memory = mmap.mmap(file.fileno(), 1)

    def write(self, byte):
        self.byte = byte
        if self.memory is not None:
            self.memory[0:1] = byte

    @contextmanager
    def running(self, side):
        """That side's code runs inside."""
        before = self.byte
        self.write(MARKS.get(side, IDLE))
        try:
            yield
        finally:
            self.write(before)
