"""npu-smi: the table of `info`, the maps, and the values of one card."""

from __future__ import annotations

import time

from tools import smi_table
from tools.chips import chip
from tools.faults import faults
from tools.state import Place, State, layout, places

KEY_WIDTH = 31
USAGE = "Usage: npu-smi info [-l | -m | -t <type> -i <id> [-c <chip id>]]"


def main(words: list) -> int:
    """The exit status."""
    if "smi_hangs" in faults():
        while True:
            time.sleep(60)
    if "smi_exit_1" in faults():
        return 1
    if "smi_8005" in faults():
        print("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\ndcmi module initialize failed. ret is -8005")
        return 1
    if words == ["-v"]:
        print("npu-smi version: %s" % smi_table.FRAMES[layout()].version)
        return 0
    if not words or words[0] != "info":
        print(USAGE)
        return 1
    return _info(words[1:])


def _info(words: list) -> int:
    if not words:
        print(_unknown() if "smi_unknown_layout" in faults() else smi_table.info(places()))
    elif words == ["-m"]:
        print(_map())
    elif words == ["-l"]:
        print(_list())
    else:
        return _card(dict(zip(words[::2], words[1::2])))
    return 0


def _card(asked: dict) -> int:
    kind, card, die = asked.get("-t"), asked.get("-i", ""), asked.get("-c")
    chips = [place for place in places() if str(place.npu) == card and die in (None, str(place.chip))]
    if not set(asked) <= {"-t", "-i", "-c"} or kind not in VALUES:
        print("Error parameter of -t\n" + USAGE)
        return 1
    if not chips:
        print("Error parameter of -%s\n%s" % ("c" if die else "i", USAGE))
        return 1
    lines = [("NPU ID", card)]
    if layout() != "950":
        lines.append(("Chip Count", str(len([place for place in places() if str(place.npu) == card]))))
    for place in chips:
        lines += ([] if layout() == "950" and kind == "common" else [()]) + VALUES[kind](State(place))
    if kind == "common" and layout() in ("910B", "A3"):
        # The card's own controller, with a temperature of its own.
        lines += [(), ("Chip Name", "mcu"), ("Temperature(C)", "40")]
    print("\n".join(_spelled(line) for line in lines))
    return 0


def _spelled(line: tuple) -> str:
    if len(line) < 2:
        return "\t" + line[0] if line else ""
    return "\t%s: %s" % (line[0].ljust(KEY_WIDTH), line[1])


def _common(state: State) -> list:
    on_board = layout() == "310P"
    number = [] if layout() == "950" else [("Chip ID", state.place.chip)]
    rates = [("Memory Usage Rate(%)", state.share() if on_board else 0)]
    rates += [] if on_board else [("HBM Usage Rate(%)", state.share())]
    clock = [("Aicore Freq(MHZ)", chip().mhz), ("Aicore curFreq(MHZ)", state.mhz), ("Aicore Count", chip().cubes)]
    power = [("NPU Real-time Power(W)", state.power)]
    return (
        number
        + rates
        + [("Aicore Usage Rate(%)", state.load)]
        + clock
        + [("Temperature(C)", state.temperature)]
        + power
    )


def _usages(state: State) -> list:
    on_board = layout() == "310P"
    memory = [
        ("DDR Capacity(MB)", state.total_mb if on_board else 0),
        ("DDR Usage Rate(%)", state.share() if on_board else 0),
    ]
    memory += [("DDR Hugepages Total(page)", 0), ("DDR Hugepages Usage Rate(%)", 0)]
    if not on_board:
        memory += [("HBM Capacity(MB)", state.total_mb), ("HBM Usage Rate(%)", state.share())]
    rest = [("Aicpu Usage Rate(%)", 0), ("Ctrlcpu Usage Rate(%)", 9), ("DDR Bandwidth Usage Rate(%)", 0)]
    return memory + [("Aicore Usage Rate(%)", state.load)] + rest + [("Chip ID", state.place.chip)]


def _proc_mem(state: State) -> list:
    lines = [("No process in device.",)] if not state.processes else []
    for process in state.processes:
        name = "" if "smi_blank_names" in faults() else process.get("name", "")
        words = (process["pid"], name.ljust(17), process.get("memory_mb", 0))
        lines.append(("Process id:%d Process name:%s Process memory(MB):%d" % words,))
    return lines + [("Chip ID", state.place.chip)]


def _health(state: State) -> list:
    fine = state.health == "OK"
    code = ("Error Code", "NA" if fine else "80E01801")
    return [("Health", state.health), code, ("Error Information", "NA" if fine else "aicore execution error")]


VALUES = {"common": _common, "usages": _usages, "proc-mem": _proc_mem, "health": _health}


def _list() -> str:
    cards = dict.fromkeys(place.npu for place in places())
    lines = [("Total Count", str(len(cards)))]
    for card in cards:
        count = len([place for place in places() if place.npu == card])
        lines += [(), ("NPU ID", str(card)), ("Chip Count", str(count))]
    return "\n".join(_spelled(line) for line in lines)


def _map() -> str:
    heads = {
        "A3": ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name"),
        "950": ("NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", "Chip Name"),
    }.get(layout(), ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name"))
    lines = [heads]
    chips = places()
    for number, place in enumerate(chips):
        lines.append(tuple(_place(head, place) for head in heads))
        if layout() != "950" and (number + 1 == len(chips) or chips[number + 1].npu != place.npu):
            # The card's controller stands in the list as well.
            mcu = {"NPU ID": str(place.npu), "Chip ID": str(place.chip + 1), "Chip Name": "Mcu"}
            lines.append(tuple(mcu.get(head, "-") for head in heads))
    return "\n".join("\t" + "".join(cell.ljust(KEY_WIDTH) for cell in line).rstrip() for line in lines)


def _place(head: str, place: Place) -> str:
    name = chip().board if chip().board.startswith("Ascend") else "Ascend " + chip().board
    values = {
        "NPU ID": place.npu,
        "Slot ID": place.npu,
        "Chip ID": place.chip,
        "Chip Logic ID": place.logic,
        "Chip Phy-ID": place.physical,
        "Chip Name": name,
    }
    return str(values[head])


def _unknown() -> str:
    """A table of a version that nobody has seen."""
    lines = ["npu-smi 99.0.0", "id  state  load  memory"]
    lines += ["%d;%s;%d%%;%dMB" % (p.physical, State(p).health, State(p).load, State(p).used_mb) for p in places()]
    return "\n".join(lines)
