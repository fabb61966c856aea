"""acl.rt: devices and time limits of the emulation."""

SECOND_NS = 1_000_000_000


def set_op_execute_time_out(timeout):
    """The longest that an operator may run, in seconds; 0 is the longest that can be set. Counts for the process."""
    runtime = _runtime()
    runtime.timeout_ns = int(timeout) * SECOND_NS
    return 0


def set_device(device_id):
    runtime = _runtime()
    if not 0 <= device_id < runtime.count():
        return 107001
    runtime.index = device_id
    return 0


def get_device():
    return _runtime().index, 0


def get_device_count():
    return _runtime().count(), 0


def synchronize_device():
    _runtime().device().synchronize()
    return 0


def _runtime():
    from torch_npu._runtime import RUNTIME

    return RUNTIME
