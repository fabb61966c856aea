"""Programs of several ranks are told how to be profiled."""

from __future__ import annotations

import pytest

from msprun.device.world import refuse_ranks
from msprun.errors import MachineError


@pytest.mark.parametrize("name", ["WORLD_SIZE", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_one_of_several_processes_gets_the_command_for_all_of_them(name: str) -> None:
    with pytest.raises(MachineError) as caught:
        refuse_ranks({name: "8", "RANK": "3"})
    assert caught.value.message == f"this is one of 8 processes ({name}=8), and only one device can be measured"
    assert caught.value.hint is not None
    assert "msprun mode=standard -- torchrun --nproc-per-node=8 PROGRAM" in caught.value.hint
    assert f"env -u {name} -u RANK msprun" in caught.value.hint


@pytest.mark.parametrize("environ", [{}, {"WORLD_SIZE": "1", "RANK": "0"}, {"WORLD_SIZE": ""}, {"WORLD_SIZE": "many"}])
def test_a_process_alone_is_fine(environ: dict[str, str]) -> None:
    refuse_ranks(environ)
