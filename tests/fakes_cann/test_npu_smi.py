"""The fake npu-smi prints the four known tables, the maps and the values of one card."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.fakes_cann.apps import Machine

pytestmark = pytest.mark.process

A2 = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.5.6                   Version: 25.5.6                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 4     910B2               | Alarm         | 92.8        39                0    / 0             |
| 0                         | 0000:01:00.0  | 7           0    / 0          61609/ 65536         |
+===========================+===============+====================================================+
| 5     910B2               | OK            | 90.1        37                0    / 0             |
| 0                         | 0000:02:00.0  | 0           0    / 0          3401 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 4       0                 | 935440        | python                   | 58780                   |
+===========================+===============+====================================================+
| No running processes found in NPU 5                                                            |
+===========================+===============+====================================================+
"""
A3 = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 4     Ascend910           | OK            | 92.8        36                0    / 0             |
| 0     8                   | 0000:B1:00.0  | 0           0    / 0          3400 / 65536         |
+------------------------------------------------------------------------------------------------+
| 4     Ascend910           | OK            | -           37                0    / 0             |
| 1     9                   | 0000:AF:00.0  | 0           0    / 0          3401 / 65536         |
+===========================+===============+====================================================+
"""
DUO = """\
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 32      310P3                 | OK              | NA           36                0     / 0             |
| 0       0                     | 0000:C1:00.0    | 0            1844 / 21527                            |
+===============================+=================+======================================================+
| 96      310P3                 | OK              | NA           37                0     / 0             |
| 0       1                     | 0000:BF:00.0    | 0            1845 / 21527                            |
+===============================+=================+======================================================+
"""
A5 = """\
+--------+------------------+---------------+-----------------------------------------------------+
| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |
|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |
+========+==================+===============+=====================================================+
| 0      | Ascend950PR      | OK            | 92.8        36                0     / 0             |
|        |                  | NA            | 0           0    / 0          6056  / 131072        |
+========+==================+===============+=====================================================+
+---------------------------+---------------+-----------------------------------------------------+
| NPU ID                    | Process id    | Process name             | Process memory(MB)       |
+===========================+===============+=====================================================+
| No running processes found in NPU 0                                                             |
+===========================+===============+=====================================================+
"""


def known(machine: Machine, **devices: dict[str, object]) -> None:
    """health.json: `d4` is the device of physical id 4."""
    text = json.dumps({name[1:]: words for name, words in devices.items()})
    (machine.folder / "state" / "health.json").write_text(text)


def told(machine: Machine, *words: str, **environ: str) -> str:
    """What npu-smi prints."""
    done = machine.run("npu-smi", "info", *words, **environ)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_910b_shows_what_health_json_says(machine) -> None:
    busy = {"health": "Alarm", "load": 7, "temperature": 39, "used_mb": 61609, "bus": "0000:01:00.0"}
    busy["processes"] = [{"pid": 935440, "name": "python", "memory_mb": 58780}]
    known(machine, d4=busy, d5={"power": 90.1, "bus": "0000:02:00.0"})
    assert told(machine, FAKE_CANN_NPUS="4,5") == A2


def test_a3_has_two_dies_a_card_and_physical_ids(machine) -> None:
    assert A3 in told(machine, FAKE_CANN_CHIP="A3", FAKE_CANN_NPUS="4")


def test_310p_has_cards_with_gaps_and_logic_ids(machine) -> None:
    assert DUO in told(machine, FAKE_CANN_CHIP="310P3", FAKE_CANN_NPUS="32,96")


def test_950_has_four_cells_and_no_chip_column(machine) -> None:
    known(machine, d0={"bus": "NA"})
    assert told(machine, FAKE_CANN_CHIP="950").endswith(A5)


def test_memory_counts_processes_and_what_was_not_given_back(machine) -> None:
    known(machine, d0={"memory_mb": 2048, "processes": [{"pid": 1, "memory_mb": 100}, {"pid": 2, "memory_mb": 41}]})
    assert " 5589 / 65536 " in told(machine)  # 3400 + 2048 + 141


def test_the_map_counts_logic_ids_and_lists_controllers(machine) -> None:
    lines = [line.split() for line in told(machine, "-m", FAKE_CANN_NPUS="4,7").splitlines()]
    assert lines[0] == "NPU ID Chip ID Chip Logic ID Chip Name".split()
    assert lines[1:] == [
        ["4", "0", "0", "Ascend", "910B2"], ["4", "1", "-", "Mcu"], ["7", "0", "1", "Ascend", "910B2"],
        ["7", "1", "-", "Mcu"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chip", "head", "row"),
    [
        ("A3", "NPU ID Chip ID Chip Logic ID Chip Phy-ID Chip Name", "2 1 1 5 Ascend910"),
        ("950", "NPU ID Slot ID Chip ID Chip Phy-ID Chip Name", "2 2 0 2 Ascend950PR"),
    ],
)
def test_the_maps_of_newer_chips_have_physical_ids(machine, chip, head, row) -> None:
    lines = [
        " ".join(line.split()) for line in told(machine, "-m", FAKE_CANN_CHIP=chip, FAKE_CANN_NPUS="2").splitlines()
    ]
    assert lines[0] == head and row in lines


def test_the_list_counts_cards_and_chips(machine) -> None:
    text = told(machine, "-l", FAKE_CANN_CHIP="A3", FAKE_CANN_NPUS="4,5")
    assert re.findall(r"(\S.*\S)\s+: (\d+)", text) == [
        ("Total Count", "2"), ("NPU ID", "4"), ("Chip Count", "2"), ("NPU ID", "5"), ("Chip Count", "2"),
    ]  # fmt: skip


def values(text: str) -> list[tuple[str, str]]:
    return [
        (key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in text.splitlines()) if key
    ]


def test_common_tells_clock_load_and_temperature_of_a_card(machine) -> None:
    known(machine, d5={"load": 70, "mhz": 1750, "temperature": 66, "processes": [{"pid": 1}], "used_mb": 53739})
    assert values(told(machine, "-t", "common", "-i", "5", FAKE_CANN_NPUS="4,5")) == [
        ("NPU ID", "5"), ("Chip Count", "1"), ("Chip ID", "0"), ("Memory Usage Rate(%)", "0"),
        ("HBM Usage Rate(%)", "81"), ("Aicore Usage Rate(%)", "70"), ("Aicore Freq(MHZ)", "1800"),
        ("Aicore curFreq(MHZ)", "1750"), ("Aicore Count", "24"), ("Temperature(C)", "66"),
        ("NPU Real-time Power(W)", "92.8"), ("Chip Name", "mcu"), ("Temperature(C)", "40"),
    ]  # fmt: skip


def test_a_device_that_nobody_uses_has_slowed_down(machine) -> None:
    known(machine, d0={"mhz": 1800})
    assert dict(values(told(machine, "-t", "common", "-i", "0")))["Aicore curFreq(MHZ)"] == "800"


def test_usages_end_with_the_chip(machine) -> None:
    found = values(told(machine, "-t", "usages", "-i", "0", "-c", "0"))
    assert ("HBM Capacity(MB)", "65536") in found and found[-1] == ("Chip ID", "0")


def test_proc_mem_lists_processes_or_says_that_there_is_none(machine) -> None:
    known(machine, d0={"processes": [{"pid": 4242, "name": "python", "memory_mb": 134}]})
    assert "\tProcess id:4242 Process name:python            Process memory(MB):134\n" in told(
        machine, "-t", "proc-mem", "-i", "0"
    )
    assert "No process in device." in told(machine, "-t", "proc-mem", "-i", "1", FAKE_CANN_NPUS="0,1")


def test_a_process_that_lives_on_the_device_is_listed_until_it_is_gone(machine) -> None:
    app = machine.app("import time\n" + machine.app().read_text() + "print('up', flush=True)\ntime.sleep(60)\n")
    with machine.start(sys.executable, app, "1", APP_PHYSICAL="0") as running:
        assert running.stdout is not None and running.stdout.readline() == "up\n"
        assert f"| {running.pid}" in told(machine)
        assert f"| {running.pid}" not in told(machine, FAKE_CANN_NPUS="1")
        os.killpg(running.pid, 9)
    assert "No running processes found in NPU 0" in told(machine)


def test_names_of_processes_can_be_hidden(machine) -> None:
    known(machine, d0={"processes": [{"pid": 7, "name": "python"}]})
    assert "python" not in told(machine, FAKE_CANN_FAULT="smi_blank_names")


def test_the_table_of_processes_can_be_missing(machine) -> None:
    assert "Process id" not in told(machine, FAKE_CANN_FAULT="smi_no_processes")


def test_widths_differ_and_warnings_follow_where_asked(machine) -> None:
    text = told(machine, FAKE_CANN_SMI_WIDTH="3", FAKE_CANN_FAULT="smi_warning")
    assert "| 0     910B2                  |" in text and text.splitlines()[-1].startswith("[WARNING]")


def test_an_unknown_table_looks_like_none_of_the_four(machine) -> None:
    text = told(machine, FAKE_CANN_FAULT="smi_unknown_layout")
    assert "|" not in text and "Health" not in text


@pytest.mark.parametrize(("fault", "text"), [("smi_exit_1", ""), ("smi_8005", "ret is -8005")])
def test_it_can_fail(machine, fault, text) -> None:
    done = machine.run("npu-smi", "info", FAKE_CANN_FAULT=fault)
    assert done.returncode == 1 and text in done.stdout


def test_it_can_hang(machine) -> None:
    with machine.start("npu-smi", "info", FAKE_CANN_FAULT="smi_hangs") as running:
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(timeout=0.4)
        os.killpg(running.pid, 9)


def test_a_card_that_is_not_there_is_an_error(machine) -> None:
    done = machine.run("npu-smi", "info", "-t", "common", "-i", "3")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "Error parameter of -i")


TOP = re.compile(r"^\| (\d+) +(\S+) +\| (\S+) +\| (\S+) +(\d+) +0 +/ 0 ")
BOTTOM = re.compile(r"^\| (\d+) +(\d*) *\| (\S+) +\| (\d+) .*?(\d+) *(?:/ 0 +(\d+))? ?/ (\d+) +\|$")


@pytest.mark.parametrize(
    ("sample", "chip"),
    [
        ("910b2-4cards-ids4to7-25.5.6", "910B2"), ("910b4-4cards-24.1.rc3", "910B4"),
        ("a3-8cards-idle-24.1.rc3.7", "A3"), ("a3-card4-only-25.5.1", "A3"), ("310p3-8cards-24.1.0.1", "310P3"),
    ],
)  # fmt: skip
def test_a_real_table_comes_out_letter_by_letter(machine, samples, sample, chip) -> None:
    text = (samples / "npu-smi" / f"{sample}.txt").read_text()
    lines = text.splitlines()
    devices, cards = {}, []
    for upper, lower in zip(lines, lines[1:], strict=False):
        if (top := TOP.match(upper)) and (bottom := BOTTOM.match(lower)):
            total, used = int(bottom[7]), int(bottom[6] or bottom[5])
            words = {"health": top[3], "temperature": int(top[5]), "used_mb": used, "total_mb": total, "bus": bottom[3]}
            if top[4] not in ("-", "NA"):
                words["power"] = float(top[4])
            devices["d" + (bottom[2] or top[1])] = words
            cards.append(top[1])
    known(machine, **devices)
    environ = {"FAKE_CANN_CHIP": chip, "FAKE_CANN_NPUS": ",".join(dict.fromkeys(cards))}
    environ["FAKE_CANN_SMI_VERSION"] = re.search(r"npu-smi (\S+)", text)[1]
    environ["FAKE_CANN_FAULT"] = "" if "Process id" in text else "smi_no_processes"
    assert told(machine, **environ).rstrip("\n") == text.rstrip("\n")
