"""torch_npu's own markers: they do nothing unless its own profiler runs with markers on, and swallow errors.

FAKE_CANN_MSTX_API=old has them as they began: without domains, for nothing but a Stream. With none they are not there.
"""

import functools
import os
import time
import warnings

from .._runtime import RUNTIME
from .streams import Stream


class Today:
    """Marks and ranges, on a stream or on the host alone."""

    @staticmethod
    def mark(message, stream=None, domain="default"):
        range_id = Today.range_start(message, stream, domain)
        Today.range_end(range_id, domain)

    @staticmethod
    def range_start(message, stream=None, domain="default"):
        """The range's id, 0 where nobody listens."""
        if not message or not isinstance(message, str):
            warnings.warn("Invalid message for mstx.range_start func. Please input valid message string.", stacklevel=2)
            return 0
        if stream is not None and not isinstance(stream, Stream):
            warnings.warn("Invalid stream for mstx.range_start func. Please input valid stream.", stacklevel=2)
            return 0
        return opened(message, stream, domain)

    @staticmethod
    def range_end(range_id, domain="default"):
        closed(range_id)

    @staticmethod
    def mstx_range(message, stream=None, domain="default"):
        def wrapper(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                range_id = Today.range_start(message, stream, domain)
                try:
                    return function(*args, **kwargs)
                finally:
                    Today.range_end(range_id, domain)

            return inner

        return wrapper


class Old:
    """Ranges on a stream, all in one domain."""

    @staticmethod
    def range_start(message, stream=None):
        """The range's id, 0 where nobody listens or where the stream is none."""
        if not isinstance(stream, Stream):
            print(Warning, "Invalid type for stream argument, must be `torch_npu.npu.Stream`")
            return 0
        return opened(message, stream, "default")

    @staticmethod
    def range_end(range_id):
        closed(range_id)


def opened(message, stream, domain):
    profiler = RUNTIME.profiler
    if profiler is None or not profiler.takes_marks(domain):
        return 0
    return profiler.open_mark(message, domain, moment(stream))


def closed(range_id):
    if RUNTIME.profiler is not None and isinstance(range_id, int) and range_id:
        RUNTIME.profiler.close_mark(range_id)


def moment(stream):
    """(host's time, device's time or None, stream or None) of a marker that is put down now."""
    now = time.time_ns()
    if stream is None:
        return now, None, None
    clock = RUNTIME.device().time
    return now, max(now, clock.end_of(stream.stream_id)), stream.stream_id


mstx = Old if os.environ.get("FAKE_CANN_MSTX_API") == "old" else Today
