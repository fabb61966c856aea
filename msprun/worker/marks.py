"""Markers on the device's stream: by CANN's own C library for msprof, by torch_npu's mstx for torch_npu's profiler.

Each collector records one kind alone: torch_npu's does nothing under msprof, where `import mstx` was also seen to hang.
So there is one probe, and the reason where it does not answer.
"""

import ctypes
import os

DOMAIN = b"msprun"
LIBRARY = "libms_tools_ext.so"
PLACES = ("lib64", "tools/mstx/lib64")


class Marks:
    """Ranges `mr|<number>` in a domain of our own; `why` says why there are none, None where they work."""

    def __init__(self, stream):
        self.stream = stream
        self.lib = self.domain = None
        lib, self.why = load()
        if lib is None:
            return
        self.domain = lib.mstxDomainCreateA(DOMAIN)
        probe = lib.mstxDomainRangeStartA(self.domain, b"mr|probe", None)
        if not probe:
            self.why = "mstxDomainRangeStartA answered 0: no profiler with --msproftx=on listens"
            return
        lib.mstxDomainRangeEnd(self.domain, probe)
        self.lib = lib

    def start(self, number):
        """Open the range of a call, on the device's stream; its handle."""
        return self.lib.mstxDomainRangeStartA(self.domain, b"mr|%d" % number, self.stream())

    def end(self, handle):
        """Close a range."""
        self.lib.mstxDomainRangeEnd(self.domain, handle)


class TorchMarks:
    """The same by torch_npu. `why` there are none is known by `probe` alone: they answer while its profiler runs.

    Its first versions know no domain and take nothing for a stream but the object, which `current_stream` answers.
    """

    def __init__(self, current_stream):
        self.stream = current_stream
        self.mstx = None
        self.words = {"domain": DOMAIN.decode()}
        self.why = "torch_npu.profiler has not begun"

    def probe(self):
        """Set one, now that the profiler runs. Whatever goes wrong is a reason to do without them."""
        try:
            import torch_npu

            self.mstx = torch_npu.npu.mstx
            handle = self.first()
            self.why = None if handle else "torch_npu.npu.mstx.range_start answered 0: no profiler listens"
            self.end(handle)
        except Exception as error:
            self.why = "torch_npu.npu.mstx: %s: %s" % (type(error).__name__, error)

    def first(self):
        """The handle of the first range; from now on without a domain, where it takes none."""
        try:
            return self.mstx.range_start("mr|probe", self.stream(), **self.words)
        except TypeError:
            self.words = {}
            return self.mstx.range_start("mr|probe", self.stream())

    def start(self, number):
        """Open the range of a call, on the device's stream; its handle."""
        return self.mstx.range_start("mr|%d" % number, self.stream(), **self.words)

    def end(self, handle):
        """Close a range."""
        self.mstx.range_end(handle, **self.words)


def load():
    """The library with its signatures, or None and why not."""
    home = os.environ.get("ASCEND_HOME_PATH", "")
    said = []
    for path in [os.path.join(home, place, LIBRARY) for place in PLACES if home] + [LIBRARY]:
        try:
            lib = ctypes.CDLL(path)
            declare(lib)
        except (OSError, AttributeError) as error:
            said.append(str(error))
            continue
        return lib, None
    return None, "; ".join(said)


def declare(lib):
    """Argument types; without them 64-bit handles are cut. Raises AttributeError where a function is missing."""
    lib.mstxDomainCreateA.argtypes = [ctypes.c_char_p]
    lib.mstxDomainCreateA.restype = ctypes.c_void_p
    lib.mstxDomainRangeStartA.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    lib.mstxDomainRangeStartA.restype = ctypes.c_uint64
    lib.mstxDomainRangeEnd.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    lib.mstxDomainRangeEnd.restype = None
