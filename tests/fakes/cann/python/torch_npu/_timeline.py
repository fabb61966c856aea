"""The emulated device's own time: streams of tasks that begin when they are launched and the ones before are over."""

import time

from . import _errors

LAUNCH_NS = 2000  # from the host's launch to the earliest start on the device
EVENT_NS = 20
SPIN_NS = 300_000
COPY_BASE_US = {"H2D": 8.0, "D2H": 8.0, "D2D": 1.5}
HOST_BANDWIDTH = 2.0e4  # bytes a microsecond
FIRST_TASK = 12
TASK_IDS = 65536


class Timeline:
    """Streams of one device; all times are Unix nanoseconds."""

    def __init__(self, journal, chip, queue_ns, logic):
        self.journal = journal
        self.chip = chip
        self.queue_ns = queue_ns
        self.logic = logic
        self.ends = {}
        self.tasks = FIRST_TASK
        self.launched_ns = 0
        self.hung_ns = None  # when the task that never ends began

    def launch(self, stream, duration_ns, host_ns):
        """Put a task on a stream; its ids and times."""
        # torch_npu launches from a thread of its own, a little later and in order.
        launched = max(host_ns + self.queue_ns, self.launched_ns)
        self.launched_ns = launched
        start = max(launched + LAUNCH_NS, self.ends.get(stream, 0))
        self.ends[stream] = start + duration_ns
        self.tasks = (self.tasks + 1) % TASK_IDS
        ids = {"device": self.logic, "stream": stream, "task": self.tasks}
        return dict(ids, host_ns=launched, start_ns=start, duration_ns=duration_ns)

    def kernel(self, stream, kernel, duration_ns, host_ns):
        """Run a kernel and log it."""
        self.journal.add(
            "kernel",
            name=kernel.name,
            op_type=kernel.op_type,
            kind=kernel.kind,
            block_num=kernel.block_num,
            mix_block_num=kernel.mix_block_num,
            inputs=kernel.inputs[0],
            dtypes=kernel.inputs[1],
            outputs=kernel.outputs[0],
            output_dtypes=kernel.outputs[1],
            **self.launch(stream, duration_ns, host_ns),
        )

    def copy(self, stream, direction, size, host_ns):
        """Copy `size` bytes: H2D, D2H or D2D."""
        bandwidth = self.chip.bandwidth / 2 if direction == "D2D" else HOST_BANDWIDTH
        duration = int(COPY_BASE_US[direction] * 1000 + size / bandwidth * 1000)
        times = self.launch(stream, duration, host_ns)
        self.journal.add("copy", kind="MEMCPY_ASYNC", direction=direction, bytes=size, **times)

    def event(self, stream):
        """Record an event on a stream; when it comes to pass."""
        times = self.launch(stream, EVENT_NS, time.time_ns())
        self.journal.add("event", kind="EVENT_RECORD", **times)
        return times["start_ns"]

    def wait_for(self, stream, event_ns):
        """Hold a stream back until an event."""
        self.ends[stream] = max(self.ends.get(stream, 0), event_ns)

    def end_of(self, stream=None):
        """When a stream, or all of them, will have nothing left to do."""
        return self.ends.get(stream, 0) if stream is not None else max(self.ends.values(), default=0)

    def drain_queue(self):
        """Wait until the launching thread has launched everything: what reading `npu_stream` does."""
        until(self.launched_ns)

    def hang(self, host_ns):
        """A task that never ends."""
        self.hung_ns = max(host_ns + self.queue_ns + LAUNCH_NS, self.end_of())

    def synchronize(self, stream=None, limit_ns=0):
        """Wait for a stream, or all. Raises RuntimeError for a task that runs longer than `limit_ns`, if not 0."""
        while self.hung_ns is not None:
            if limit_ns and time.time_ns() > self.hung_ns + limit_ns:
                self.hung_ns = None
                raise _errors.failure("npuSynchronizeDevice", "AclrtSynchronizeDeviceWithTimeout", 507014)
            time.sleep(0.005)
        begin = time.time_ns()
        until(self.end_of(stream))
        self.journal.add("sync", host_ns=begin, end_ns=time.time_ns(), stream=stream)


def until(moment_ns):
    """Sleep, and look at the clock all the time at the end."""
    rest = moment_ns - time.time_ns()
    if rest > 2 * SPIN_NS:
        time.sleep((rest - SPIN_NS) / 1e9)
    while time.time_ns() < moment_ns:
        pass
