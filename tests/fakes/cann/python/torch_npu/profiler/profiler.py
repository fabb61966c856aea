"""torch_npu.profiler.profile: records what the emulated device does and writes a `*_ascend_pt` folder."""

import fcntl
import json
import os
import socket
import time
from pathlib import Path

from .._runtime import RUNTIME
from . import tables
from .options import ProfilerAction, _ExperimentalConfig
from .raw import Raw

UNDER_MSPROF = (
    "If performance data is collected using the 'msprof' tool. torch_npu profiler api is not effective.",
    "Environment variable 'PROFILING_MODE' is set, torch_npu profiler api is not effective.",
)
OCCUPIED = "[ERROR] Prof channel[50] of device[%d] is occupied, which may cause by multi-process"
RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def say(level, text):
    """A line as torch_npu's profiler prints them."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    print("[%s] [%s] [%d] profiler.py: %s" % (stamp, level, os.getpid(), text), flush=True)


def under_msprof():
    """Whether another collector owns this process; says so."""
    variables = ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")
    found = [text for name, text in zip(variables, UNDER_MSPROF) if os.environ.get(name)]
    for text in found:
        say("WARNING", text)
    return bool(found)


class Recording:
    """What happens on one device from now on; mstx looks here for a listener."""

    def __init__(self, config):
        self.config = config
        self.device = RUNTIME.device()
        self.first = len(RUNTIME.journal.records)
        self.start_ns = time.time_ns()
        self.marks = []
        self.lock = hold(self.device)

    @property
    def has_pmu(self):
        return self.config.group is not None

    def takes_marks(self, domain):
        """Whether marks of a domain are recorded."""
        if self.config.domains:
            return self.config.mstx and domain in self.config.domains
        return self.config.mstx and domain not in self.config.not_domains

    def open_mark(self, message, domain, moment):
        """The id of a range that begins at `moment`: (host's time, device's or None, stream or None)."""
        words = {"id": len(self.marks) + 1, "message": message, "domain": domain, "stream": moment[2]}
        self.marks.append(
            dict(words, host_start_ns=moment[0], device_start_ns=moment[1], host_end_ns=None, device_end_ns=None)
        )
        return words["id"]

    def close_mark(self, range_id):
        mark = self.marks[range_id - 1] if range_id <= len(self.marks) else None
        if mark is None or mark["host_end_ns"] is not None:
            return
        mark["host_end_ns"] = now = time.time_ns()
        if mark["stream"] is not None:
            mark["device_end_ns"] = max(now, self.device.time.end_of(mark["stream"]))
        RUNTIME.journal.add("mark", **mark)

    def records(self):
        """The record of the process, and all of its device since the beginning."""
        known = RUNTIME.journal.records
        mine = [r for r in known[self.first :] if r.get("device", self.device.logic) == self.device.logic]
        return [r for r in known if r["t"] == "process" and r["device"] == self.device.logic] + mine

    def close(self):
        if self.lock is not None:
            os.close(self.lock)


def hold(device):
    """The lock of a device's one channel, None where somebody else has it."""
    if not device.settings.state:
        return os.open(os.devnull, os.O_RDONLY)
    lock = os.open(os.path.join(device.settings.state, "channel-%d.lock" % device.physical), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        print(OCCUPIED % device.physical, flush=True)
        return None
    return lock


class profile:
    """Begins at `start` or `with`; `step` ends a step of the schedule; without one all of it is recorded."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, experimental_config=None, **more):
        for name in ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "use_cuda"):
            more.pop(name, None)
        if more:
            raise TypeError("__init__() got an unexpected keyword argument %r" % next(iter(more)))
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.config = experimental_config or _ExperimentalConfig()
        self.is_inert = under_msprof()
        self.step_number = 0
        self.action = ProfilerAction.NONE
        self.recording = None
        self.steps = []
        self.step_ns = 0
        self.step_mark = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        if not self.is_inert:
            self.enter_step()

    def stop(self):
        if not self.is_inert:
            self.leave_step()
            self.save()

    def step(self):
        """End a step, and begin the next."""
        if self.is_inert:
            return
        self.leave_step()
        if self.action == ProfilerAction.RECORD_AND_SAVE:
            self.save()
        self.step_number += 1
        self.enter_step()

    def enter_step(self):
        self.action = self.schedule(self.step_number) if self.schedule else ProfilerAction.RECORD
        if self.action in RECORDING and self.recording is None:
            RUNTIME.device().synchronize()
            self.recording = RUNTIME.profiler = Recording(self.config)
        self.step_ns = time.time_ns()
        if self.recording and self.schedule and self.recording.takes_marks("default"):
            device = self.recording.device
            moment = self.step_ns, max(self.step_ns, device.time.end_of(device.stream)), device.stream
            self.step_mark = self.recording.open_mark("ProfilerStep#%d" % self.step_number, "default", moment)

    def leave_step(self):
        if self.recording is None:
            return
        if self.schedule:
            self.steps.append((self.step_number, self.step_ns, time.time_ns()))
        if self.step_mark:
            self.recording.close_mark(self.step_mark)
            self.step_mark = 0

    def save(self):
        """End the recording; what was recorded goes to the handler."""
        if self.recording is None:
            return
        try:
            self.recording.device.synchronize()
        finally:
            RUNTIME.profiler = None
            self.recording.close()
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)
        self.recording, self.steps = None, []

    def parse(self, made, output):
        """Have msprof export the raw data; tables of torch_npu's own are made of what it wrote."""
        recorded, tools = self.recording, tables.Tools()
        raw = Raw(made, recorded, tools)
        wrong = raw.export()
        if wrong is not None:
            say("ERROR", "Failed to export CANN Profiling data. Error msg: %s" % wrong)
        kernels = raw.kernels()
        if kernels is not None:
            details = tables.kernel_details(tools, kernels, self.steps, recorded)
            (output / "kernel_details.csv").write_bytes(details.encode())
            closed = [mark for mark in recorded.marks if mark["host_end_ns"] is not None]
            (output / "trace_view.json").write_text(tables.trace_view(kernels, closed, self.steps))
        if self.config.data_simplification:
            raw.simplify()

    def schedule_words(self):
        return getattr(self.schedule, "words", None)

    def write(self, folder, worker):
        """Write the folder of this recording."""
        now = time.time_ns()
        stamp = time.strftime("%Y%m%d%H%M%S") + "%03d" % (now // 1_000_000 % 1000)
        made = Path(folder) / ("%s_%d_%s_ascend_pt" % (worker or socket.gethostname(), os.getpid(), stamp))
        output = made / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        say("INFO", "Start parsing profiling data: %s" % made)
        recorded = self.recording
        (made / "profiler_info_0.json").write_text(json.dumps(tables.profiler_info(self, (recorded.start_ns, now))))
        (made / "profiler_metadata.json").write_text(json.dumps({"ENV_VARIABLES": {}}))
        (made / "FRAMEWORK").mkdir()
        if recorded.lock is not None:
            self.parse(made, output)
        say("INFO", "All profiling data parsed in a total time of 0:00:%09.6f" % ((time.time_ns() - now) / 1e9))
        return made


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False):
    """A handler that writes a `*_ascend_pt` folder below `dir_name`."""

    def handle(profiler):
        profiler.write(dir_name or os.environ.get("ASCEND_WORK_PATH", os.getcwd()), worker_name)

    return handle


def analyse(profiler_path="", max_process_number=4, export_type=None):
    """Parse again what lies below a path: here everything is parsed at once."""
    say("INFO", "Start parsing profiling data: %s" % profiler_path)


def supported_activities():
    from .options import ProfilerActivity

    return {ProfilerActivity.CPU, ProfilerActivity.NPU}
