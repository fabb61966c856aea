"""Choosing and leasing in one go, with leases that are real."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from msprun.device import claim as module
from msprun.device.claim import Claim, claim
from msprun.device.cpu import Cpu
from msprun.device.npu import Npu
from msprun.errors import MachineError
from msprun.lease import Lease, Leases
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


def claimed(npu: Npu, tool: Tool, run: Run, name: str = "mine", told: list[str] | None = None) -> Claim:
    again = partial(npu.select, run, tool.environ)
    return claim(again(), again, run.lease, name, silent if told is None else told.append)


def test_the_chosen_device_is_held_until_it_is_given_back(two: tuple[Npu, Tool], leases: Leases) -> None:
    mine = claimed(*two, request(leases.folder))
    assert mine.facts.physical == 4 and len(mine.fds) == 1
    holder = leases.holder("npu4")
    assert holder is not None and holder.run == "mine"
    theirs = claimed(*two, request(leases.folder), "theirs")
    assert theirs.facts.physical == 5
    mine.close()
    theirs.close()
    assert mine.fds == () and not leases.is_taken("npu4") and not leases.is_taken("npu5")


def test_who_is_overtaken_takes_another_device_without_waiting(two: tuple[Npu, Tool], leases: Leases) -> None:
    npu, tool = two
    leases.folder.mkdir()
    again = partial(npu.select, request(leases.folder), tool.environ)
    first = again()
    assert first.lease == "npu4"
    told: list[str] = []
    with leases.take("npu4", 0, silent):
        late = claim(first, again, request(leases.folder).lease, "late", told.append)
    assert late.facts.physical == 5 and told == []
    late.close()


def test_where_all_are_leased_who_waits_in_vain_is_told_whom_for(two: tuple[Npu, Tool], leases: Leases) -> None:
    leases.folder.mkdir()
    told: list[str] = []
    with leases.take("npu4", 0, silent), leases.take("npu5", 0, silent):
        with pytest.raises(MachineError, match="npu4 is leased by .*somebody"):
            claimed(*two, request(leases.folder, wait_s=0.5), told=told)
        with pytest.raises(MachineError, match="npu4 is leased by .*somebody"):
            claimed(*two, request(leases.folder, wait_s=0), told=told)
    assert len(told) == 1 and told[0].startswith("every device is leased; waiting for npu4, leased by ")


def test_where_all_are_leased_whichever_is_free_first_is_taken(
    two: tuple[Npu, Tool], leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TURN_S", 0.2)
    leases.folder.mkdir()
    with leases.take("npu4", 0, silent):
        other = leases.take("npu5", 0, silent)
        freed = claimed_while(two, leases, other)
        assert freed.facts.physical == 5
        freed.close()


def claimed_while(two: tuple[Npu, Tool], leases: Leases, other: Lease) -> Claim:
    """A claim of a waiting run; whom it does not wait for gives up as soon as it waits."""
    npu, tool = two
    run = request(leases.folder, wait_s=30)
    again = partial(npu.select, run, tool.environ)
    return claim(again(), again, run.lease, "mine", lambda words: other.release())


def test_a_named_device_is_waited_for_although_another_is_free(two: tuple[Npu, Tool], leases: Leases) -> None:
    leases.folder.mkdir()
    with leases.take("npu5", 0, silent), pytest.raises(MachineError, match="npu5 is leased by"):
        claimed(*two, request(leases.folder, id=1))


def test_a_processor_is_leased_by_nobody(tmp_path: Path) -> None:
    run = Run(device=Device(kind="cpu", threads=1, id=None, physical=None, busy="wait"), lease=request(tmp_path).lease)
    again = partial(Cpu().select, run, {})
    mine = claim(again(), again, run.lease, "mine", silent)
    assert (mine.facts.kind, mine.fds, mine.leases) == ("cpu", (), None)
    mine.close()
    assert list(tmp_path.iterdir()) == []
