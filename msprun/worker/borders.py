"""Where a timed call begins and ends: by the host's clock, behind a synchronisation, or recorded for a profiler."""

import time

CLOCK = time.perf_counter_ns
# Around a separator and between two cases where a profiler sees no marker: no device pauses so long by itself.
APART_S = 0.001
FAR_APART_S = 0.02


class Plain:
    """The host's clock around a block of calls."""

    def __init__(self, device):
        self.device = device

    def block(self, call, calls):
        """Nanoseconds of `calls` calls in a row."""
        function, args, kwargs = call
        rest = range(calls)
        start = CLOCK()
        for _ in rest:
            function(*args, **kwargs)
        return CLOCK() - start

    def through(self, calls):
        """Nanoseconds of a block that walks over calls with different arguments."""
        start = CLOCK()
        for function, args, kwargs in calls:
            function(*args, **kwargs)
        return CLOCK() - start

    def between(self, purpose, work):
        """Do something that belongs to no call."""
        work()

    def begin(self, label):
        """What follows belongs to `label` (case, side, purpose)."""

    def take(self):
        """What a profiler must know of the calls since the last time; None where nobody needs it."""

    def abandon(self):
        """Numbers of calls that were begun and will be told by nobody; None where calls have no numbers."""


class Synchronised(Plain):
    """The same for a device that works behind the host's back."""

    def block(self, call, calls):
        return self.through([call] * calls)

    def through(self, calls):
        self.device.synchronize()
        start = CLOCK()
        for function, args, kwargs in calls:
            function(*args, **kwargs)
        self.device.synchronize()
        return CLOCK() - start

    def between(self, purpose, work):
        work()
        self.device.synchronize()


class Recorded(Synchronised):
    """Every call by itself, numbered, with host times around it and, where they work, markers on the stream.

    Where they do not, a kernel of msprun's own runs before each call and behind the last one of a request, rests around
    it. `record` holds [number, case, side, purpose, start_ns, end_ns] (Unix) of all that ran since it was last taken.
    """

    def __init__(self, device, marks):
        super().__init__(device)
        self.marks = marks
        self.record = []
        self.number = self.first = 0
        self.label = (None, None, None)
        self.case = None

    def begin(self, label):
        self.label = label
        if label[0] != self.case:
            self.case = label[0]
            self.device.synchronize()
            time.sleep(FAR_APART_S)

    def through(self, calls):
        return sum(self.one(call, self.label) for call in calls)

    def between(self, purpose, work):
        self.one((work, (), {}), (self.label[0], None, purpose))

    def one(self, call, label):
        function, args, kwargs = call
        number, self.number = self.number, self.number + 1
        if self.marks.why is not None:
            self.separate()
        self.device.synchronize()  # a marker could overtake what torch_npu's launching thread still holds
        start_ns = time.time_ns()
        handle = self.marks.start(number) if self.marks.why is None else None
        start = CLOCK()
        try:
            function(*args, **kwargs)
            self.device.synchronize()
        finally:
            elapsed = CLOCK() - start
            if handle is not None:
                self.marks.end(handle)
        self.record.append([number] + list(label) + [start_ns, time.time_ns()])
        return elapsed

    def separate(self):
        """Keep what follows apart from what came before."""
        time.sleep(APART_S)
        self.device.separate()
        self.device.synchronize()
        time.sleep(APART_S)

    def take(self):
        taken, self.record = self.record, []
        if taken and self.marks.why is not None:
            now = time.time_ns()
            taken.append([self.number, self.case, None, "pause", now, now])
            self.number += 1
            self.separate()
        self.first = self.number
        return taken

    def abandon(self):
        numbers = list(range(self.first, self.number))
        self.record = []
        self.first = self.number
        return numbers
