"""The texts of npu-smi: hand-written ones with one peculiarity each, and the real ones where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.device import npu_smi
from msprun.device.npu_smi import UnknownTable
from msprun.model.npu import Chip, Inventory, Process

DATA = Path(__file__).parents[1] / "data" / "npu-smi"


def read(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


def inventory(name: str, map_name: str | None = None) -> Inventory:
    places = () if map_name is None else npu_smi.places(read(map_name))
    return npu_smi.merged(npu_smi.table(read(name)), places)


def ids(found: Inventory) -> list[tuple[int, int, int | None, int | None]]:
    assert found.chips is not None
    return [(chip.npu_id, chip.chip_id, chip.logic_id, chip.physical_id) for chip in found.chips]


def test_a_910b_has_one_chip_a_card_and_its_hbm_counts() -> None:
    """hicann/cannbot-skills: a busy card was taken for idle, since a chip has two lines."""
    idle, busy = npu_smi.table(read("910b_two_cards_and_a_process")).chips
    assert idle == Chip(
        npu_id=4, chip_id=0, name="910B3", health="OK", bus="0000:11:00.0", aicore_percent=0.0, memory_used_mb=3300,
        memory_total_mb=65536, power_w=91.5, temperature_c=40.0,
    )  # fmt: skip
    assert (busy.npu_id, busy.health, busy.aicore_percent, busy.memory_used_mb) == (15, "Alarm", 93.0, 60001)


def test_processes_may_have_no_name() -> None:
    assert npu_smi.table(read("910b_two_cards_and_a_process")).processes == (
        Process(npu_id=15, chip_id=0, pid=77123, name="python3", memory_mb=56700),
        Process(npu_id=15, chip_id=0, pid=77124, name=None, memory_mb=112),
    )


def test_a_table_that_finds_no_process_is_not_the_same_as_no_table() -> None:
    """hicann/cannbot-skills: the table of processes was read wrongly."""
    idle = read("910b_two_cards_and_a_process").splitlines()
    without = "\n".join(line for line in idle if "7712" not in line)
    assert npu_smi.table(without).processes == ()
    assert npu_smi.table("\n".join(idle[:13])).processes is None


def test_the_second_die_of_a_card_has_no_power_and_its_own_physical_id() -> None:
    """vllm-project/vllm-ascend#6449: two chips a card, and a dash for the power of the second."""
    first, second = npu_smi.table(read("a3_two_dies")).chips
    assert (first.npu_id, first.chip_id, first.physical_id, first.power_w) == (5, 0, 10, 180.2)
    assert (second.npu_id, second.chip_id, second.physical_id, second.power_w) == (5, 1, 11, None)
    assert (second.aicore_percent, second.memory_used_mb) == (12.0, 9900)


def test_a_shared_die_that_is_shown_twice_is_one_device() -> None:
    found = inventory("a3_one_shared_die")
    assert ids(found) == [(0, 0, 0, 3)]
    assert found.processes == (Process(npu_id=0, chip_id=0, pid=5120, name="python", memory_mb=400),)


def test_device_of_a_310p_is_its_logic_id_and_nothing_tells_the_physical_one() -> None:
    found = inventory("310p_odd_ids")
    assert ids(found) == [(64, 0, 0, None), (32800, 0, 1, None), (32800, 1, 2, None)]
    assert found.chips is not None
    assert [(chip.memory_used_mb, chip.memory_total_mb, chip.power_w) for chip in found.chips] == [
        (1700, 21527, None),
        (249, 21527, None),
        (1701, 21527, None),
    ]
    assert found.chips[0].aicore_percent == 3.0
    assert found.chips[1].health == "Warning"
    assert found.processes is None


def test_a_950_has_four_columns_and_no_chip_in_its_process_table() -> None:
    found = npu_smi.table(read("950_four_columns"))
    assert [(c.npu_id, c.chip_id, c.name, c.health, c.aicore_percent) for c in found.chips] == [
        (2, 0, "Ascend950PR", "OK", 0.0),
        (3, 0, "Ascend950PR", "Critical", 100.0),
    ]
    assert [chip.bus for chip in found.chips] == ["0000:41:00.0", None]
    assert found.chips[1].memory_used_mb == 90000
    assert found.processes == (Process(npu_id=3, chip_id=None, pid=4711, name="train", memory_mb=83900),)


def test_of_two_memories_the_one_on_the_chip_counts_and_a_warning_is_kept() -> None:
    found = npu_smi.table(read("910a_both_memories_and_a_warning"))
    assert (found.chips[0].memory_used_mb, found.chips[0].memory_total_mb) == (210, 32768)
    assert found.warnings == ("Warning: the installation of the driver is not complete.",)
    assert (found.version, found.processes) == ("23.0.1", None)


def test_a_card_may_have_one_line_of_its_own_and_one_of_each_chip() -> None:
    lines = read("910b_two_cards_and_a_process").splitlines()
    lower = lines[7].replace("| 0 ", "| 1 ", 1).replace("11:00.0", "11:00.1")
    found = npu_smi.table("\n".join([*lines[:8], lower, *lines[8:]]))
    assert [chip.place for chip in found.chips] == [(4, 0), (4, 1), (15, 0)]
    assert [id[3] for id in ids(npu_smi.merged(found, ()))] == [None] * 3  # a card's number is no chip's number


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: "", "no known head"),
        (lambda text: "dcmi module initialize failed. ret is -8005", "no known head"),
        (lambda text: text.replace("Bus-Id", "Place"), "line 4 begins no known head"),
        (lambda text: text.replace("NPU   Name", "Card  Name"), "line 4 begins no known head"),
        (lambda text: text.replace("| 0000:11:00.0  |", "|"), "line 8 has 2 columns, its head 3"),
        (lambda text: text.replace("0000:11:00.0", "somewhere   "), "line 8 is no known second line"),
        (lambda text: text.replace("| 4     910B3 ", "|       910B3 "), "line 8 belongs to no chip"),
        (lambda text: "\n".join(text.splitlines()[:7]), "no whole chip"),
        (lambda text: "\n".join(text.splitlines()[:6]), "no whole chip"),
        (lambda text: "\n".join(text.splitlines()[:4]), "no known head"),
    ],
)
def test_an_unknown_table_is_not_guessed(change, why: str) -> None:
    """hicann/cannbot-skills: what was read wrongly seemed to be device 0."""
    with pytest.raises(UnknownTable, match=why):
        npu_smi.table(change(read("910b_two_cards_and_a_process")))


def test_an_unknown_process_table_leaves_the_chips_known() -> None:
    found = npu_smi.table(read("910b_two_cards_and_a_process").replace("77123", "python"))
    assert len(found.chips) == 2
    assert found.processes is None
    assert found.warnings == ("line 18 is no known row of the process table",)


def test_values_that_are_not_told_are_none_and_not_zero() -> None:
    text = read("910b_two_cards_and_a_process").replace("| 93          0    / 0          60001/ 65536 ", "| NA  NA ")
    chip = npu_smi.table(text).chips[1]
    assert (chip.aicore_percent, chip.memory_used_mb, chip.memory_total_mb) == (None, None, None)


def test_the_map_tells_logic_ids_and_leaves_out_the_micro_controller() -> None:
    places = npu_smi.places(read("map_910b"))
    assert [(p.npu_id, p.chip_id, p.logic_id, p.physical_id, p.name) for p in places] == [
        (4, 0, 0, None, "Ascend 910B3"),
        (15, 0, 1, None, "Ascend 910B3"),
    ]
    assert ids(inventory("910b_two_cards_and_a_process", "map_910b")) == [(4, 0, 0, 4), (15, 0, 1, 15)]


def test_the_map_of_an_a3_tells_physical_ids_too() -> None:
    assert ids(inventory("a3_two_dies", "map_a3")) == [(5, 0, 0, 10), (5, 1, 1, 11)]


def test_the_map_of_a_950_tells_no_logic_id_so_chips_are_counted() -> None:
    assert ids(inventory("950_four_columns", "map_950")) == [(2, 0, 0, 6), (3, 0, 1, 7)]


def test_without_a_map_chips_are_counted_as_they_are_listed() -> None:
    assert ids(inventory("910b_two_cards_and_a_process")) == [(4, 0, 0, 4), (15, 0, 1, 15)]


@pytest.mark.parametrize("text", ["", "dcmi module initialize failed. ret is -8005\n", "NPU ID  Chip ID\n0  0\n"])
def test_a_map_that_is_not_known_is_not_guessed(text: str) -> None:
    with pytest.raises(UnknownTable, match="its head is not known"):
        npu_smi.places(text)


def test_rows_of_the_map_that_tell_no_id_are_left_out() -> None:
    assert npu_smi.places("NPU ID  Chip ID  Chip Logic ID  Chip Name\n0  0  -  Ascend910\n\n0  1\n") == ()


def test_each_die_has_its_own_clock_load_and_temperature() -> None:
    first, second = (npu_smi.pulse(read("common_two_dies"), chip) for chip in (0, 1))
    assert first is not None and second is not None
    assert (first.clock_mhz, first.rated_mhz, first.aicore_percent, first.temperature_c) == (800, 1800, 0, 38)
    assert (first.power_w, first.memory_percent, first.aicore_count) == (180.2, 5, 24)
    assert (second.clock_mhz, second.aicore_percent, second.temperature_c, second.power_w) == (1800, 61, 47, None)


def test_a_chip_without_its_id_is_the_only_one_and_one_that_is_not_there_is_nobody() -> None:
    found = npu_smi.pulse(read("common_one_chip_without_its_id"), 0)
    assert found is not None
    assert (found.clock_mhz, found.memory_percent, found.power_w) == (1080, 7, None)
    assert npu_smi.pulse(read("common_two_dies"), 2) is None
    assert npu_smi.pulse("dcmi module initialize failed", 0) is None


@pytest.mark.parametrize(
    ("name", "soc"),
    [
        ("910B2", "Ascend910B2"),
        ("Ascend 910B3", "Ascend910B3"),
        ("910B4-1", "Ascend910B4-1"),
        ("310P3", "Ascend310P3"),
        ("910ProB", "Ascend910ProB"),
        ("Ascend910_9392", "Ascend910_9392"),
        ("Ascend910", None),  # A3 and the first generation alike
        ("Ascend950PR", None),
        ("310Pvir01", None),  # a slice has not the figures of the whole
        ("xxx", None),
    ],
)
def test_a_name_means_a_chip_only_where_it_means_one(name: str, soc: str | None) -> None:
    assert npu_smi.soc_name(name) == soc


@pytest.mark.parametrize("text", ["dcmi module initialize failed. ret is -8005", "open: Permission denied"])
def test_missing_rights_are_told_apart(text: str) -> None:
    assert npu_smi.has_no_right(text)
    assert not npu_smi.has_no_right("dcmi module initialize failed. ret is -80051")


# file: chips, their physical ids (None: not told), used megabytes of the first, processes (None: no table).
REAL = {
    "310p3-8cards-24.1.0.1": (8, None, 1844, 0),
    "310p3-duo-2cards-4chips-25.5.1": (4, None, 1448, None),
    "310p3-vnpu-vir01-container-22.0.4": (1, None, 249, None),
    "910b2-1card-25.3.rc1.2": (1, [0], 3446, None),
    "910b2-4cards-ids4to7-25.5.6": (4, [4, 5, 6, 7], 3405, 0),
    "910b2c-3-of-16-25.5.2": (3, [0, 1, 15], 3412, None),
    "910b4-1card-id5-25.5.2": (1, [5], 2922, 0),
    "910b4-4cards-24.1.rc3": (4, [0, 1, 2, 3], 2859, 0),
    "910prob-1card-busy-23.0.rc1": (1, [0], 30711, 1),
    "a3-8cards-busy-blank-names-25.2.0": (16, list(range(16)), 61609, 23),
    "a3-8cards-idle-24.1.rc3.7": (16, list(range(16)), 3419, 0),
    "a3-card4-only-25.5.1": (2, [8, 9], 51255, None),
    "a3-soft-share-container": (1, [0], 3130, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_read(samples: Path, name: str) -> None:
    found = npu_smi.merged(npu_smi.table((samples / "npu-smi" / f"{name}.txt").read_text()), ())
    assert found.chips is not None
    count, physical, used_mb, processes = REAL[name]
    assert [chip.logic_id for chip in found.chips] == list(range(count))
    assert [chip.physical_id for chip in found.chips] == (physical or [None] * count)
    assert found.chips[0].memory_used_mb == used_mb
    assert (None if found.processes is None else len(found.processes)) == processes


def test_every_real_table_is_known_here(samples: Path) -> None:
    assert {file.stem for file in (samples / "npu-smi").glob("*.txt")} == set(REAL)
