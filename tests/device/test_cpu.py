"""The processor as a device: its facts and the environment of its workers."""

from __future__ import annotations

import os

from msprun import device
from msprun.device.cpu import Cpu


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
    assert Cpu().environment(Cpu().facts(1))["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"


def test_freed_memory_is_kept_so_that_calls_do_not_fault_it_in_again() -> None:
    environment = Cpu().environment(Cpu().facts(1))
    assert int(environment["MALLOC_MMAP_THRESHOLD_"] or 0) == 4 * 2**30
    assert int(environment["MALLOC_TRIM_THRESHOLD_"] or 0) == 8 * 2**30


def test_auto_is_the_processor_and_says_why() -> None:
    kind, why = device.detect()
    assert kind == "cpu"
    assert "/dev" in why
