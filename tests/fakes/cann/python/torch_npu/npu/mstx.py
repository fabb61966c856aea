"""torch_npu's own markers: they do nothing unless its own profiler runs with mstx=True, and swallow errors."""

import functools
import time

from .._runtime import RUNTIME


class mstx:
    """Marks and ranges, on a stream or on the host alone."""

    @staticmethod
    def mark(message, stream=None, domain="default"):
        range_id = mstx.range_start(message, stream, domain)
        mstx.range_end(range_id, domain)

    @staticmethod
    def range_start(message, stream=None, domain="default"):
        """The range's id, 0 where nobody listens."""
        profiler = RUNTIME.profiler
        if profiler is None or not profiler.takes_marks(domain) or not isinstance(message, str) or not message:
            return 0
        return profiler.open_mark(message, domain, moment(stream))

    @staticmethod
    def range_end(range_id, domain="default"):
        if RUNTIME.profiler is not None and isinstance(range_id, int) and range_id:
            RUNTIME.profiler.close_mark(range_id)

    @staticmethod
    def mstx_range(message, stream=None, domain="default"):
        def wrapper(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                range_id = mstx.range_start(message, stream, domain)
                try:
                    return function(*args, **kwargs)
                finally:
                    mstx.range_end(range_id, domain)

            return inner

        return wrapper


def moment(stream):
    """(host's time, device's time or None, stream or None) of a marker that is put down now."""
    now = time.time_ns()
    if stream is None:
        return now, None, None
    clock = RUNTIME.device().time
    return now, max(now, clock.end_of(stream.stream_id)), stream.stream_id
