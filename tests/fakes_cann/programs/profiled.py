"""Uses torch_npu's profiler twice, then once more as if below msprof, where it does nothing."""

import fcntl
import os

import torch
from torch_npu import npu, profiler

folder = os.path.join(os.environ["FAKE_CANN_STATE"], "profiles")
x = torch.randn(64, 64).to("npu")


def iterate(prof, count):
    for step in range(count):
        mark = npu.mstx.range_start(f"mine|{step}", torch.npu.current_stream())
        torch.softmax(x @ x, -1)
        torch.npu.synchronize()
        npu.mstx.range_end(mark)
        prof.step()


assert npu.mstx.range_start("nobody listens", torch.npu.current_stream()) == 0
config = profiler._ExperimentalConfig(
    profiler_level=profiler.ProfilerLevel.Level1,
    aic_metrics=profiler.AiCMetrics.PipeUtilization,
    mstx=True,
    data_simplification=False,
)
with profiler.profile(
    activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
    schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
    on_trace_ready=profiler.tensorboard_trace_handler(folder),
    experimental_config=config,
) as prof:
    iterate(prof, 5)
with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(folder)):
    x + 1
path = os.environ.pop("PATH")
with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(folder)):
    x + 1
os.environ["PATH"] = path
with open(os.path.join(os.environ["FAKE_CANN_STATE"], "channel-0.lock"), "a") as another:
    fcntl.flock(another, fcntl.LOCK_EX)
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(folder)):
        x + 1
os.environ["PROFILER_SAMPLECONFIG"] = "{}"
with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(folder)) as prof:
    iterate(prof, 1)
