"""The processor as a device: its facts and the environment of its workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from msprun.device.cpu import Cpu
from msprun.errors import ConfigError
from msprun.schema import Device, Run


def test_facts_are_those_of_this_machine() -> None:
    facts = Cpu().facts(3)
    assert facts.kind == "cpu"
    assert facts.threads == 3
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.name


def test_a_worker_has_as_many_threads_as_were_asked_for_in_every_library() -> None:
    environment = Cpu().environment(Cpu().facts(2))
    assert {environment[name] for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")} == {"2"}
    assert environment["OMP_WAIT_POLICY"] == "PASSIVE"


def test_no_other_back_end_is_loaded_by_torch() -> None:
    """flashserve/flash-linear-attention-npu#2: a torch_npu that does not fit broke `import torch`."""
    assert Cpu().environment(Cpu().facts(1))["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"


def test_freed_memory_is_kept_so_that_calls_do_not_fault_it_in_again() -> None:
    environment = Cpu().environment(Cpu().facts(1))
    assert int(environment["MALLOC_MMAP_THRESHOLD_"] or 0) == 4 * 2**30
    assert int(environment["MALLOC_TRIM_THRESHOLD_"] or 0) == 8 * 2**30


def asked(id: int | None = None, physical: int | None = None, busy: str = "wait") -> Run:
    return Run(device=Device(kind="cpu", threads=3, id=id, physical=physical, busy=busy))


def test_there_is_one_processor_and_nobody_leases_it() -> None:
    facts = Cpu().select(asked(), {})
    assert (facts.id, facts.threads, facts.lease, facts.logic) == (0, 3, None, None)
    assert Cpu().use(facts) is None and Cpu().pulse(facts) is None
    assert Cpu().check(Path(sys.executable), {}) == ()


@pytest.mark.parametrize(
    ("run", "key"),
    [(asked(id=0), "device.id=0"), (asked(physical=3), "device.physical=3"), (asked(busy="warn"), "device.busy=warn")],
)
def test_keys_of_devices_with_numbers_are_refused(run: Run, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        Cpu().select(run, {})
