"""Choosing and leasing in one go, with leases that are real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from msprun.device.claim import claim
from msprun.device.cpu import Cpu
from msprun.device.npu import Npu
from msprun.errors import MachineError
from msprun.lease import Lease, Leases
from msprun.model.plan import DeviceFacts
from msprun.schema import Device, Run
from tests.device.hosts import Tool, card, host, request, table

pytestmark = pytest.mark.process


def silent(words: str) -> None:
    return None


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(tmp_path / "leases", "somebody")


@pytest.fixture
def two(tmp_path: Path) -> tuple[Npu, Tool]:
    return host(tmp_path, table(card(4), card(5, load=20)))


def test_the_chosen_device_is_held_until_it_is_given_back(two: tuple[Npu, Tool], leases: Leases) -> None:
    npu, tool = two
    mine = claim(npu, request(leases.folder), tool.environ, "mine", silent)
    assert mine.facts.physical == 4 and len(mine.fds) == 1
    holder = leases.holder("npu4")
    assert holder is not None and holder.run == "mine"
    theirs = claim(npu, request(leases.folder), tool.environ, "theirs", silent)
    assert theirs.facts.physical == 5
    mine.close()
    theirs.close()
    assert mine.fds == () and not leases.is_taken("npu4") and not leases.is_taken("npu5")


class Overtaken:
    """An NPU whose best device somebody leases right after it was chosen."""

    def __init__(self, npu: Npu, leases: Leases) -> None:
        self.npu, self.leases = npu, leases
        self.taken: list[Lease] = []

    def select(self, run: Run, environ: Mapping[str, str]) -> DeviceFacts:
        facts = self.npu.select(run, environ)
        if not self.taken:
            assert facts.lease is not None
            self.taken.append(self.leases.take(facts.lease, 0, silent))
        return facts


def test_who_is_overtaken_takes_another_device(two: tuple[Npu, Tool], leases: Leases) -> None:
    npu, tool = two
    leases.folder.mkdir()
    late = claim(Overtaken(npu, leases), request(leases.folder), tool.environ, "late", silent)  # type: ignore[arg-type]
    assert late.facts.physical == 5
    late.close()


def test_where_all_are_leased_the_best_one_is_waited_for(two: tuple[Npu, Tool], leases: Leases) -> None:
    npu, tool = two
    leases.folder.mkdir()
    told: list[str] = []
    with leases.take("npu4", 0, silent), leases.take("npu5", 0, silent):
        with pytest.raises(MachineError, match="npu4 is leased by .*somebody"):
            claim(npu, request(leases.folder, wait_s=0.3), tool.environ, "mine", told.append)
    assert len(told) == 1 and told[0].startswith("waiting for npu4")


def test_a_named_device_is_waited_for_although_another_is_free(two: tuple[Npu, Tool], leases: Leases) -> None:
    npu, tool = two
    leases.folder.mkdir()
    with leases.take("npu5", 0, silent), pytest.raises(MachineError, match="npu5 is leased by"):
        claim(npu, request(leases.folder, id=1), tool.environ, "mine", silent)


def test_a_processor_is_leased_by_nobody(tmp_path: Path) -> None:
    run = Run(device=Device(kind="cpu", threads=1, id=None, physical=None, busy="wait"))
    claimed = claim(Cpu(), run, {}, "mine", silent)
    assert (claimed.facts.kind, claimed.fds, claimed.leases) == ("cpu", (), None)
    claimed.close()
