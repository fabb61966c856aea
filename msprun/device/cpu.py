"""The host's processor."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from msprun.errors import ConfigError
from msprun.model.npu import Finding, Pulse, Use
from msprun.model.plan import DeviceFacts
from msprun.schema import Run

# glibc gives large blocks back to the system and faults them in again on each call, which is up to three times the
# operator's own time; with these it keeps memory, as the caching allocators of accelerators do.
_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}


class Cpu:
    """CPU time of a call is the host clock around it."""

    def select(self, run: Run, environ: Mapping[str, str]) -> DeviceFacts:
        """The one there is. Raises ConfigError for a request that numbers it."""
        for key, value in (("device.id", run.device.id), ("device.physical", run.device.physical)):
            if value is not None:
                raise ConfigError(f"{key}={value}: the processor has no number", f"drop {key}")
        if run.device.busy != "wait":
            raise ConfigError(f"device.busy={run.device.busy} is for devices that are leased", "drop device.busy")
        return self.facts(run.device.threads)

    def check(self, python: Path, environ: Mapping[str, str]) -> tuple[Finding, ...]:
        """Torch is all that it takes, and that is there."""
        return ()

    def facts(self, threads: int) -> DeviceFacts:
        """The processor's name and the cores that this process may use."""
        return DeviceFacts(kind="cpu", id=0, id_source="auto", name=_name(), cores=cores(), threads=threads)

    def environment(self, facts: DeviceFacts) -> dict[str, str | None]:
        """Memory kept between calls, a fixed number of threads that sleep while they wait, no other back end loaded."""
        # A torch_npu without its CANN breaks `import torch`.
        return {**host_variables(facts.threads), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}

    def use(self, facts: DeviceFacts) -> Use | None:
        """Nobody asks who else runs on a processor."""
        return None

    def pulse(self, facts: DeviceFacts) -> Pulse | None:
        """Nobody asks for a processor's clock."""
        return None


def cores() -> int:
    """Cores of the host that this process may use."""
    return len(os.sched_getaffinity(0))


def host_variables(threads: int) -> dict[str, str]:
    """What keeps the host's part of a worker steady, on whatever device it works."""
    return {
        **_MALLOC,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads on a shared box: 20 us become 8 ms
    }


def _name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
