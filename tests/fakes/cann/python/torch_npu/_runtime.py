"""The one runtime of this process: its devices, which of them is current, and the end of it all."""

import atexit
import sys
import time

from . import _errors
from ._device import Device
from ._journal import Journal
from ._settings import Settings


class Runtime:
    """Devices begin when they are first used."""

    def __init__(self):
        self.settings = Settings()
        self.journal = Journal(self.settings.state)
        self.devices = {}
        self.index = 0
        self.profiler = None
        self.timeout_ns = 0  # of an operator, for all devices; 0 is none
        atexit.register(self.end)

    def count(self):
        """How many devices this process sees."""
        return len(self.settings.visible)

    def device(self, index=None):
        """A device, the current one by default. Raises RuntimeError where there is none or it does not open."""
        index = self.index if index is None else index
        if index not in self.devices:
            if not 0 <= index < self.count():
                call = "c10_npu::SetDevice(device_id_)" if self.count() else "aclInit"
                raise _errors.failure("Initialize", call, 107001)
            self.devices[index] = Device(self, index)
        return self.devices[index]

    def end(self):
        """Log that the process ended in an orderly way; its code where an exception says it."""
        if self.devices:
            code = 1 if getattr(sys, "last_value", None) is not None else None
            self.journal.add("exit", code=code, host_ns=time.time_ns())
            self.journal.flush()


RUNTIME = Runtime()
