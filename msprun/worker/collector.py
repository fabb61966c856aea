"""Who sees what a call does on the device: nobody, the msprof around this process, or torch_npu's profiler in it."""

import os

import torch

from .borders import Plain, Recorded, Synchronised
from .failures import Refusal
from .marks import Marks


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
        return {"markers": self.marks.why is None, "markers_why": self.marks.why}


class TorchNpu(NoCollector):
    """torch_npu's own profiler. It records no C markers, so calls lie apart and are told by the host's times."""

    def __init__(self, device):
        if any(name in os.environ for name in ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")):
            raise Refusal("torch_npu.profiler does nothing under msprof: unset PROFILER_SAMPLECONFIG, PROFILING_MODE")
        self.borders = Recorded(device, Silent())
        self.profile = None

    def environment(self):
        return {"markers": False, "markers_why": Silent.why}

    def begin(self, folder):
        import torch_npu

        made = torch_npu.profiler
        # Level1 says what kind of core ran a kernel; counters of the cores would stretch what they count.
        options = made._ExperimentalConfig(
            profiler_level=made.ProfilerLevel.Level1, aic_metrics=made.AiCMetrics.AiCoreNone, data_simplification=False
        )
        self.profile = made.profile(
            activities=[made.ProfilerActivity.CPU, made.ProfilerActivity.NPU],
            on_trace_ready=made.tensorboard_trace_handler(str(folder / "profile")),
            experimental_config=options,
        )
        self.profile.start()
        return {}

    def end(self):
        torch.npu.synchronize()
        self.profile.stop()
        return {}


class Silent:
    """No markers."""

    why = "torch_npu.profiler records no markers of C libraries"


COLLECTORS = {None: NoCollector, "msprof": Msprof, "torch_npu": TorchNpu}
