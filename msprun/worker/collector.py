"""Who sees what a call does on the device: nobody, the msprof around this process, or torch_npu's profiler in it."""

import contextlib
import os

import torch

from .borders import Plain, Recorded, Synchronised
from .failures import Refusal
from .marks import Marks, TorchMarks

# How its profiler is asked for markers: today's word, the older one, and none where it knows neither.
MARKED = ({"mstx": True}, {"msprof_tx": True}, {})


class NoCollector:
    """The host's clock alone."""

    def __init__(self, device):
        self.borders = Plain(device) if device.torch.type == "cpu" else Synchronised(device)

    def environment(self):
        """What a worker tells of it."""
        return {}

    def begin(self, folder):
        """Begin to collect."""
        return {}

    def end(self):
        """Have what was collected written."""
        return {}


class Msprof(NoCollector):
    """msprof started this process and collects from its first moment; it writes when the process has ended."""

    def __init__(self, device):
        self.marks = Marks(device.stream)
        self.borders = Recorded(device, self.marks)

    def environment(self):
        return whether(self.marks)


class TorchNpu(NoCollector):
    """torch_npu's own profiler. It ignores markers of C libraries, and torch_npu's own ones work once it runs."""

    def __init__(self, device):
        if any(name in os.environ for name in ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")):
            raise Refusal("torch_npu.profiler does nothing under msprof: unset PROFILER_SAMPLECONFIG, PROFILING_MODE")
        self.marks = TorchMarks(lambda: torch.npu.current_stream())
        self.borders = Recorded(device, self.marks)
        self.profile = None

    def begin(self, folder):
        import torch_npu

        made = torch_npu.profiler
        self.profile = made.profile(
            activities=[made.ProfilerActivity.CPU, made.ProfilerActivity.NPU],
            on_trace_ready=made.tensorboard_trace_handler(str(folder / "profile")),
            experimental_config=options(made),
        )
        self.profile.start()
        self.marks.probe()
        return whether(self.marks)

    def end(self):
        torch.npu.synchronize()
        self.profile.stop()
        return {}


def options(made):
    """What torch_npu's profiler, the module `made`, is asked for."""
    # Level1 says what kind of core ran a kernel. Simplified data lack the table of markers.
    found = configured(made, profiler_level=made.ProfilerLevel.Level1, data_simplification=False)
    # Counters of the cores would stretch what they count. From Level1 on the constructor puts a group of them in the
    # place of none, also where none is asked for; the runtime gets what is then written here.
    found._aic_metrics = made.AiCMetrics.AiCoreNone
    return found


def configured(made, **words):
    """A configuration with markers, if this version has any."""
    for marked in MARKED[:-1]:
        with contextlib.suppress(TypeError):
            return made._ExperimentalConfig(**words, **marked)
    return made._ExperimentalConfig(**words, **MARKED[-1])


def whether(marks):
    """Do markers work, and why not?"""
    return {"markers": marks.why is None, "markers_why": marks.why}


COLLECTORS = {None: NoCollector, "msprof": Msprof, "torch_npu": TorchNpu}
