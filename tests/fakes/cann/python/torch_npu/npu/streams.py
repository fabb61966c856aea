"""torch.npu.Stream and torch.npu.Event on the emulated clock."""

import time

from .._device import DEFAULT_STREAM
from .._runtime import RUNTIME
from .._timeline import until

HANDLES = 0x7F5A00000000  # handles are pointers: more than 32 bits
COUNT = []


class Stream:
    """A stream of the current device."""

    def __init__(self, device=None, priority=0, stream_id=None):
        if stream_id is None:
            COUNT.append(None)
            stream_id = DEFAULT_STREAM + len(COUNT)
        self.stream_id = stream_id
        self.emulated = RUNTIME.device()

    @property
    def npu_stream(self):
        """The handle. Reading it waits until everything queued has been launched."""
        self.emulated.time.drain_queue()
        return HANDLES + self.stream_id

    def synchronize(self):
        self.emulated.synchronize(self.stream_id)

    def query(self):
        return self.emulated.time.end_of(self.stream_id) <= time.time_ns()

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        self.emulated.time.wait_for(self.stream_id, event.at_ns)

    def wait_stream(self, other):
        self.wait_event(other.record_event())

    def __eq__(self, other):
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self):
        return hash(self.stream_id)


class Event:
    """A moment on a stream."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self.enable_timing = enable_timing
        self.at_ns = None

    def record(self, stream=None):
        emulated = RUNTIME.device()
        self.at_ns = emulated.time.event(stream.stream_id if stream else emulated.stream)

    def wait(self, stream=None):
        (stream or current_stream()).wait_event(self)

    def query(self):
        return self.at_ns is None or self.at_ns <= time.time_ns()

    def synchronize(self):
        RUNTIME.device().check()
        until(self.at_ns or 0)

    def elapsed_time(self, end):
        """Milliseconds. Raises RuntimeError where one of both has no time."""
        if not (self.enable_timing and end.enable_timing and self.at_ns and end.at_ns):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True' and recorded.")
        return (end.at_ns - self.at_ns) / 1e6


class stream:
    """Context manager that changes the current stream."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        self.before = current_stream()
        set_stream(self.stream)

    def __exit__(self, *_):
        set_stream(self.before)


def current_stream(device=None):
    return Stream(stream_id=RUNTIME.device().stream)


def default_stream(device=None):
    return Stream(stream_id=DEFAULT_STREAM)


def set_stream(stream):
    RUNTIME.device().stream = stream.stream_id
