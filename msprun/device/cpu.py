"""The host's processor."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from msprun.model.plan import DeviceFacts

# glibc gives large blocks back to the system and faults them in again on each call, which is up to three times the
# operator's own time; with these it keeps memory, as the caching allocators of accelerators do.
_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}


class Cpu:
    """CPU time of a call is the host clock around it."""

    def facts(self, threads: int) -> DeviceFacts:
        """The processor's name and the cores that this process may use."""
        return DeviceFacts(
            kind="cpu", id=0, id_source="auto", name=_name(), cores=len(os.sched_getaffinity(0)), threads=threads
        )

    def environment(self, facts: DeviceFacts) -> dict[str, str | None]:
        """Memory kept between calls, a fixed number of threads that sleep while they wait, no other back end loaded."""
        threads = str(facts.threads)
        return {
            **_MALLOC,
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads on a shared box: 20 us become 8 ms
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # a torch_npu without its CANN breaks `import torch`
        }


def _name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
