"""One emulated NPU as this process sees it: begins when first used, launches, waits, and goes wrong on request."""

import ctypes
import glob
import os
import signal
import sys
import time

from . import _errors
from ._journal import Health
from ._memory import Pool
from ._model import VECTOR, Kernel, Model
from ._timeline import Timeline

DEFAULT_STREAM = 2
KEPT_MB = 2048
DIES_AFTER = 20
DEADLY = ("exit", "signal", "hang_process")
FALLBACK = (
    "[W compiler_depend.ts:137] Warning: CAUTION: The operator '%s' is not currently supported on the NPU backend and "
    "will fall back to run on the CPU. This may have performance implications. (function npu_cpu_fallback)"
)
PRINTF = "[tiling] blockDim = 8, tileLength = %d"
DEVICE_PRINTF = (
    "opType=add_custom, DumpHead: AIV-0, CoreType=AIV, block dim=8, total_block_num=8\nCANN Version: 8.3\nx = %d"
)


class Device:
    """`logic` counts the devices that this process sees; `physical` is the host's number."""

    def __init__(self, runtime, logic):
        self.runtime = runtime
        self.settings = settings = runtime.settings
        self.journal = journal = runtime.journal
        self.faults = settings.faults
        self.logic = logic
        self.physical = settings.visible[logic]
        self.health = Health(settings.state, self.physical)
        known = self.health.read()
        if known.get("broken"):
            raise _errors.failure("Initialize", "c10_npu::SetDevice(device_id_)", 507033)
        self.pool = Pool(settings.hbm_bytes - (int(known.get("memory_mb", 0)) << 20))
        sessions = len(glob.glob(os.path.join(settings.state, "device-*.jsonl"))) if settings.state else 0
        self.model = Model(settings, sessions)
        self.time = Timeline(journal, settings.chip, settings.queue_ns, logic)
        self.stream = DEFAULT_STREAM
        self.error = None
        self.launches = 0
        self.counts = {}
        self.is_mortal = any(fault.name in DEADLY for fault in self.faults.all)
        self.begin()

    def begin(self):
        """Tell the truth log, remember what stays, and do what faults want before the first kernel."""
        collecting = bool(self.settings.collect)
        words = {"device": self.logic, "physical": self.physical, "collecting": collecting}
        # By which of several collectors at a time.
        words["session"] = os.environ.get("FAKE_CANN_SESSION", "")
        self.journal.add(
            "process",
            pid=os.getpid(),
            chip=self.settings.chip_word,
            start_ns=time.time_ns(),
            mhz=self.settings.mhz,
            **words,
        )
        self.journal.flush()
        if self.faults.first("low_clock"):
            self.health.write(mhz=self.settings.mhz)
        kept = self.faults.first("memory_kept")
        if kept and self.faults.take(kept):
            self.health.write(memory_mb=kept.number(0, KEPT_MB))
        self.die("before")
        for fault in self.faults.named("prologue"):
            for number in range(fault.number(0, 5)):
                self.run(
                    Kernel("trans_Cast_%d" % number, "Cast", VECTOR, 3.0, 1, 0, ('""', ""), ('""', "")), time.time_ns()
                )

    def check(self):
        """Raise what the device raises since a kernel failed."""
        if self.error is not None:
            raise _errors.failure("npuSynchronizeDevice", "AclrtSynchronizeDeviceWithTimeout", self.error)

    def run(self, kernel, host_ns):
        """Launch a kernel on the current stream."""
        kind = self.model.on_chip(kernel.kind)
        kernel = kernel if kind == kernel.kind else kernel._replace(kind=kind)
        profiler = self.runtime.profiler
        has_pmu = self.settings.has_pmu or profiler is not None and profiler.has_pmu
        duration = self.model.real_ns(kernel, has_pmu)
        self.time.kernel(self.stream, kernel, duration, host_ns)
        self.journal.records[-1]["mhz"] = self.settings.mhz
        self.launches += 1

    def operator(self, word, kernel, host_ns):
        """Launch the kernel of an operator that faults may name; `word` is torch's name for it."""
        self.check()
        count = self.counts[word] = self.counts.get(word, 0) + 1
        if self.strikes("hang_op", word, count):
            self.time.hang(host_ns)
            return
        fault = self.strikes("exception", word, count)
        if fault:
            self.error = 507015
            if fault.word(2) == "breaks":
                self.health.write(broken=True)
            return
        self.run(kernel, host_ns)
        for fault in self.faults.named("varying"):
            if named(fault, word) and count % fault.number(1, 3) == 0:
                self.run(kernel._replace(name="MemSet_%s" % kernel.op_type, op_type="MemSet", kind=VECTOR), host_ns)
        if self.is_mortal:
            self.die("after")

    def strikes(self, name, word, count):
        """The fault of that name that strikes at the count-th launch of an operator, or None."""
        for fault in self.faults.named(name):
            if named(fault, word) and count == fault.number(1, 1) and self.faults.take(fault):
                return fault
        return None

    def falls_back(self, word, inputs, outputs, host_ns):
        """Whether an operator runs on the host instead: a warning, and copies in place of a kernel."""
        if not any(named(fault, word) for fault in self.faults.named("silent")):
            return False
        if word not in self.counts:
            print(FALLBACK % ("aten::" + word), file=sys.stderr, flush=True)
        self.counts[word] = self.counts.get(word, 0) + 1
        self.time.copy(self.stream, "D2H", sum(map(size_of, inputs)), host_ns)
        self.synchronize()
        self.time.copy(self.stream, "H2D", sum(map(size_of, outputs)), time.time_ns())
        return True

    def die(self, when):
        """End the process as `exit` and `signal` want it: `exit:3:before`, `signal:11:after:50` (kernels)."""
        for fault in self.faults.all:
            if fault.name not in DEADLY or fault.word(1, "after") != when:
                continue
            if when == "after" and self.launches < fault.number(2, DIES_AFTER) or not self.faults.take(fault):
                continue
            if when == "after":
                self.time.synchronize()
            self.journal.flush()
            sys.stdout.flush()
            if fault.name == "signal":
                os.kill(os.getpid(), fault.number(0, signal.SIGKILL))
            while fault.name == "hang_process":
                time.sleep(0.05)
            os._exit(fault.number(0, 1))

    def synchronize(self, stream=None):
        """Wait, then write the log. Raises RuntimeError for what went wrong on the device."""
        limit_ns = self.runtime.timeout_ns or limit_of_library() * 1_000_000_000
        try:
            self.check()
            self.time.synchronize(stream, limit_ns)
        except RuntimeError:
            self.error = self.error or 507014
            raise
        finally:
            self.journal.flush()
        if self.faults.first("printf"):
            print(PRINTF % self.launches, flush=True)
        if self.faults.first("device_printf"):
            print(DEVICE_PRINTF % self.launches, flush=True)


def size_of(tensor):
    return tensor.numel() * tensor.element_size()


def named(fault, word):
    """Whether a fault means an operator: by its name with or without underscores around it, or `any`."""
    return fault.word(0) in ("any", word, word.strip("_"))


def limit_of_library():
    """Seconds that somebody has set by the C library, 0 for none."""
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        return 0
    path = os.path.join(home, "lib64", "libascendcl.so")
    try:
        return ctypes.CDLL(path, mode=os.RTLD_NOLOAD).fake_op_timeout_s()
    except (OSError, AttributeError):
        return 0
