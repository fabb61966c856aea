"""Choosing an NPU, its numbers, and the environment of its workers, on hosts made of texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.device.mask import NAME
from msprun.device.npu import Npu
from msprun.errors import ConfigError, MachineError
from msprun.lease import Leases
from msprun.model.plan import DeviceFacts
from tests.device.hosts import card, host, read, request, table, user

FOUR = (card(4), card(5), card(6), card(7))


@pytest.fixture
def leases(tmp_path: Path) -> Path:
    folder = tmp_path / "leases"
    folder.mkdir()
    return folder


def chosen(tmp_path: Path, leases: Path, info: str, mask: str | None = None, **asked: int | None) -> DeviceFacts:
    npu, tool = host(tmp_path, info)
    environ = tool.environ if mask is None else {**tool.environ, NAME: mask}
    return npu.select(request(leases, **asked), environ)  # type: ignore[arg-type]


def test_the_device_with_the_least_load_is_taken_and_why_is_said(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(card(4, load=30), card(5, used=30000), card(6), card(7)))
    assert (facts.id, facts.logic, facts.physical, facts.id_source) == (2, 2, 6, "auto")
    assert facts.id_why == "of 4 it is the healthy one with the least load (AI core 0 %, memory 5%)"
    assert (facts.card, facts.chip, facts.health, facts.lease) == (6, 0, "OK", "npu6")
    assert facts.name == "Ascend910B2"


def test_somebodys_process_weighs_more_than_a_load_of_this_instant(tmp_path: Path, leases: Path) -> None:
    idle_but_used = user(4, 77, 30000)
    facts = chosen(tmp_path, leases, table(card(4), card(5, load=4), users=[idle_but_used]))
    assert facts.physical == 5
    facts = chosen(tmp_path, leases, table(card(4), card(5, load=4), users=[user(4, 77, 110)]))
    assert facts.physical == 4  # a context beside somebody's work elsewhere


def test_a_device_that_is_not_healthy_is_never_taken_by_itself(tmp_path: Path, leases: Path) -> None:
    assert chosen(tmp_path, leases, table(card(4, health="Alarm"), card(5, load=90))).physical == 5
    assert chosen(tmp_path, leases, table(card(4, health="Warning"), card(5, load=90))).physical == 5
    facts = chosen(tmp_path, leases, table(card(4, health="Warning"), card(5, health="Critical")))
    assert (facts.physical, facts.health, facts.id_why) == (4, "Warning", "of 2 it is Warning")
    with pytest.raises(MachineError, match="no visible NPU is healthy: 0 Alarm, 1 Critical"):
        chosen(tmp_path, leases, table(card(4, health="Alarm"), card(5, health="Critical")))


def test_who_names_a_device_gets_it_also_where_it_is_not_healthy(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(card(4, health="Alarm"), card(5)), id=0)
    assert (facts.id, facts.health, facts.id_source) == (0, "Alarm", "cli")


@pytest.mark.process
def test_a_device_that_somebody_leases_is_passed_over(tmp_path: Path, leases: Path) -> None:
    with Leases(leases, "other").take("npu4", 0, print):
        assert chosen(tmp_path, leases, table(card(4), card(5, load=50))).physical == 5
        with Leases(leases, "other").take("npu5", 0, print):
            facts = chosen(tmp_path, leases, table(card(4), card(5, load=50)))
            assert (facts.physical, facts.id_why) == (4, "all 2 are leased; of these it has the least load")
    assert chosen(tmp_path, leases, table(card(4), card(5, load=50))).physical == 4


def test_a_sick_device_gets_no_work(tmp_path: Path, leases: Path) -> None:
    Leases(leases, "other").mark_sick("npu4", "507015 twice")
    assert chosen(tmp_path, leases, table(card(4), card(5, load=50))).physical == 5
    with pytest.raises(MachineError, match="0 507015 twice"):
        chosen(tmp_path, leases, table(card(4)))


def test_a_number_counts_within_the_mask_as_torch_does(tmp_path: Path, leases: Path) -> None:
    """verl-project/verl#7507: a physical id was given to set_device under a mask."""
    info = table(*(card(number) for number in range(8)))
    facts = chosen(tmp_path, leases, info, mask="4,5,6,7", id=1)
    assert (facts.id, facts.index, facts.logic, facts.physical, facts.id_source) == (1, 0, 5, 5, "cli")
    with pytest.raises(ConfigError) as caught:
        chosen(tmp_path, leases, info, mask="4,5,6,7", id=5)
    assert caught.value.message == f"device.id=5 is not there: {NAME}=4,5,6,7 shows 4 devices"
    assert caught.value.hint == "device.id is 0 to 3, as torch counts; physical 5 is device.id=1"


def test_numbers_of_a_container_begin_at_zero_while_cards_keep_theirs(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(*FOUR), id=1)
    assert (facts.logic, facts.physical, facts.lease) == (1, 5, "npu5")
    with pytest.raises(ConfigError, match="this host has 4 devices") as caught:
        chosen(tmp_path, leases, table(*FOUR), id=7)
    assert caught.value.hint == "device.id is 0 to 3, as torch counts; physical 7 is device.id=3"


def test_a_physical_number_finds_its_device_or_says_which_there_are(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(*FOUR), mask="1,3", physical=7)
    assert (facts.id, facts.logic, facts.physical, facts.id_why) == (1, 3, 7, "device.physical=7")
    with pytest.raises(ConfigError, match="device.physical=6 is not there") as caught:
        chosen(tmp_path, leases, table(*FOUR), mask="1,3", physical=6)
    assert caught.value.hint == "visible are device.physical=5 7"
    with pytest.raises(ConfigError, match="are two devices") as caught:
        chosen(tmp_path, leases, table(*FOUR), mask="1,3", physical=7, id=0)
    assert "physical 7 is device.id=1" in str(caught.value.hint)
    assert chosen(tmp_path, leases, table(*FOUR), mask="1,3", physical=7, id=1).physical == 7


def test_the_only_device_of_a_mask_needs_no_choice(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(*FOUR), mask="2")
    assert (facts.id, facts.logic, facts.physical, facts.id_source) == (0, 2, 6, "env")
    assert facts.id_why == f"the only device of {NAME}"


def test_the_choice_stays_within_the_mask(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, table(card(4), card(5, load=9), card(6, load=1), card(7)), mask="1,2")
    assert (facts.id, facts.logic, facts.physical, facts.id_source) == (1, 2, 6, "auto")


@pytest.mark.parametrize(
    ("info", "why"),
    [
        ("some new table", "npu-smi info is of an unknown form: it has no known head of columns"),
        ("", "npu-smi info is of an unknown form: it has no known head of columns"),
    ],
)
def test_an_unknown_table_means_the_first_of_the_mask_and_says_so(
    tmp_path: Path, leases: Path, info: str, why: str
) -> None:
    facts = chosen(tmp_path, leases, info, mask="3,5")
    assert (facts.id, facts.logic, facts.physical, facts.id_source) == (0, 3, None, "env")
    assert facts.id_why == f"the first one, since the load is not known: {why}"
    assert (facts.name, facts.health, facts.card, facts.lease) == ("not known", None, None, "npu3")
    facts = chosen(tmp_path, leases, info)
    assert (facts.id, facts.logic, facts.id_source) == (0, 0, "auto")
    assert chosen(tmp_path, leases, info, mask="3,5", id=1).logic == 5


def test_a_tool_that_hangs_is_said_to_hang(tmp_path: Path, leases: Path) -> None:
    npu, tool = host(tmp_path, "")
    tool.timed_out = True
    assert "npu-smi info took longer than 20 s" in str(npu.select(request(leases), tool.environ).id_why)


def test_device_files_tell_how_many_devices_there_are_where_the_tool_does_not(tmp_path: Path, leases: Path) -> None:
    (tmp_path / "dev").mkdir()
    for name in ("davinci4", "davinci5", "davinci_manager", "null"):
        (tmp_path / "dev" / name).touch()
    with pytest.raises(ConfigError, match="device.id=2 is not there: this host has 2 devices"):
        chosen(tmp_path, leases, "some new table", id=2)
    with pytest.raises(MachineError, match=f"{NAME}=4,5 names device 4, and this host has devices 0,1"):
        chosen(tmp_path, leases, "some new table", mask="4,5")
    npu = Npu(lambda *words: pytest.fail("there is no tool to run"), dev=tmp_path / "dev")
    facts = npu.select(request(leases), {"PATH": str(tmp_path)})
    assert (facts.id, facts.id_source) == (0, "auto")
    assert "npu-smi is not on PATH" in str(facts.id_why)


def test_without_tool_and_device_files_there_is_no_npu(tmp_path: Path, leases: Path) -> None:
    npu = Npu(lambda *words: pytest.fail("there is no tool to run"), dev=tmp_path / "dev")
    with pytest.raises(MachineError, match="no NPU is here") as caught:
        npu.select(request(leases), {"PATH": str(tmp_path)})
    assert caught.value.hint == "on the processor: device=cpu"


def test_missing_rights_are_not_a_missing_device(tmp_path: Path, leases: Path) -> None:
    """Project-HAMi/ascend-device-plugin#139: device files are there, and the count is 0."""
    refused = "dcmi module initialize failed. ret is -8005\n"
    with pytest.raises(MachineError, match=r"may not be opened: .*-8005") as caught:
        chosen(tmp_path, leases, refused)
    assert "rights" in str(caught.value.hint)
    assert chosen(tmp_path, leases, refused, id=0).id == 0


def test_a_mask_in_the_numbers_of_npu_smi_is_translated(tmp_path: Path, leases: Path) -> None:
    """vllm-project/vllm-ascend#10227: slot 2 is empty, and 4 would be dropped without a word."""
    info = table(card(0), card(1), card(3), card(4))
    with pytest.raises(MachineError) as caught:
        chosen(tmp_path, leases, info, mask="0,1,3,4")
    assert caught.value.message == f"{NAME}=0,1,3,4 names device 4, and this host has devices 0,1,2,3"
    assert caught.value.hint == f"these look like NPU ids of npu-smi; as logic ids they are {NAME}=0,1,2,3"


def test_a_mask_beyond_the_devices_of_a_virtual_machine_is_refused(tmp_path: Path, leases: Path) -> None:
    """gpustack/gpustack#3352: the range was told from deep inside of torch."""
    with pytest.raises(MachineError) as caught:
        chosen(tmp_path, leases, table(card(0), card(1)), mask="4")
    assert caught.value.message == f"{NAME}=4 names device 4, and this host has devices 0,1"
    assert caught.value.hint == f"it counts logic ids (npu-smi info -m): {NAME}=0,1"


def test_the_map_of_ids_goes_before_the_order_of_the_table(tmp_path: Path, leases: Path) -> None:
    swapped = "NPU ID  Chip ID  Chip Logic ID  Chip Name\n4  0  1  910B2\n5  0  0  910B2\n"
    npu, tool = host(tmp_path, table(card(4), card(5)), **{"info -m": swapped})
    facts = npu.select(request(leases, id=0), tool.environ)
    assert (facts.logic, facts.physical) == (0, 5)
    assert tool.asked == ["info", "info -m"]


def test_dies_of_one_card_are_devices_of_their_own(tmp_path: Path, leases: Path) -> None:
    npu, tool = host(tmp_path, read("a3_two_dies"), **{"info -m": read("map_a3")})
    facts = npu.select(request(leases), tool.environ)
    assert (facts.id, facts.physical, facts.card, facts.chip, facts.lease) == (0, 10, 5, 0, "npu10")
    assert facts.name == "Ascend910"  # of which no figures are known
    assert npu.select(request(leases, id=1), tool.environ).lease == "npu11"


def test_a_device_without_a_physical_id_is_leased_by_card_and_chip(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, read("310p_odd_ids"), id=2)
    assert (facts.logic, facts.physical, facts.lease, facts.name) == (2, None, "npu32800-1", "Ascend310P3")
    with pytest.raises(ConfigError, match="physical ids are not known here"):
        chosen(tmp_path, leases, read("310p_odd_ids"), physical=2)


def test_a_shared_die_is_one_device(tmp_path: Path, leases: Path) -> None:
    facts = chosen(tmp_path, leases, read("a3_one_shared_die"))
    assert (facts.id, facts.lease, facts.id_why) == (0, "npu3", "it is the only one")


def test_choosing_leaves_nothing_behind(tmp_path: Path) -> None:
    npu, tool = host(tmp_path, table(*FOUR))
    npu.select(request(tmp_path / "not" / "there"), tool.environ)
    assert not (tmp_path / "not").exists()


def test_a_worker_sees_the_chosen_device_alone(tmp_path: Path, leases: Path) -> None:
    """Project-HAMi/HAMi#1894: the mask is there before torch is imported."""
    facts = chosen(tmp_path, leases, table(*FOUR), mask="1,3", id=1)
    environment = Npu().environment(facts)
    assert environment[NAME] == "3"
    assert facts.index == 0


def test_a_workers_environment_does_not_change_what_is_measured(tmp_path: Path, leases: Path) -> None:
    environment = Npu().environment(chosen(tmp_path, leases, table(*FOUR)))
    assert environment["ASCEND_LAUNCH_BLOCKING"] is None
    assert environment["PROFILING_MODE"] is None and environment["PROFILER_SAMPLECONFIG"] is None
    assert environment["ASCEND_GLOBAL_LOG_LEVEL"] == "3"
    assert environment["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "1"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["MALLOC_MMAP_THRESHOLD_"] == str(4 * 2**30)
    assert not {"HOME", "ASCEND_WORK_PATH", "ASCEND_CACHE_PATH", "TRITON_CACHE_DIR"} & set(environment)


def test_a_worker_finds_the_toolkits_tools_behind_those_on_path(tmp_path: Path, leases: Path) -> None:
    (tmp_path / "cann" / "bin").mkdir(parents=True)
    facts = chosen(tmp_path, leases, table(*FOUR))
    environment = Npu().environment(facts, {"PATH": "/usr/bin", "ASCEND_HOME_PATH": f"{tmp_path}/cann"})
    assert environment["PATH"] == f"/usr/bin:{tmp_path}/cann/bin"


def test_use_tells_who_is_on_the_device_and_nothing_of_others(tmp_path: Path, leases: Path) -> None:
    npu, tool = host(tmp_path, table(*FOUR, users=[user(4, 70, 600), user(5, 71, 900, "")]))
    facts = npu.select(request(leases, id=1), tool.environ)
    use = npu.use(facts, tool.environ)
    assert use is not None and use.processes is not None
    assert [(process.pid, process.name, process.memory_mb) for process in use.processes] == [(71, None, 900)]
    assert (use.memory_used_mb, use.memory_total_mb, use.aicore_percent, use.health) == (3400, 65536, 0, "OK")
    tool.texts["info"] = "another table"
    assert npu.use(facts, tool.environ) is None


def test_pulse_asks_for_the_card_and_reads_the_chip(tmp_path: Path, leases: Path) -> None:
    npu, tool = host(tmp_path, read("a3_two_dies"), **{"info -t common -i 5": read("common_two_dies")})
    facts = npu.select(request(leases, id=1), tool.environ)
    pulse = npu.pulse(facts, tool.environ)
    assert pulse is not None and (pulse.clock_mhz, pulse.rated_mhz) == (1800, 1800)
    assert tool.asked[-1] == "info -t common -i 5"
    tool.texts.clear()
    assert npu.pulse(facts, tool.environ) is None
    assert npu.pulse(chosen(tmp_path, leases, "unknown", mask="0"), tool.environ) is None


def test_one_rank_of_several_is_refused_before_anything_is_looked_at(tmp_path: Path, leases: Path) -> None:
    npu, tool = host(tmp_path, table(*FOUR))
    with pytest.raises(MachineError, match="one of 8 processes"):
        npu.select(request(leases), {**tool.environ, "WORLD_SIZE": "8"})
    assert tool.asked == []
