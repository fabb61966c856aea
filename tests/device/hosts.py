"""Hosts with NPUs that exist as texts of npu-smi alone, and requests for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msprun.device.npu import Npu
from msprun.model.plan import Heard
from msprun.schema import Device, Lease, Run

DATA = Path(__file__).parents[1] / "data" / "npu-smi"
_ROW = """| {npu:<5} {name:<19} | {health:<13} | 90.0        40                0    / 0             |
| 0                         | 0000:{npu:02X}:00.0  | {load:<11} 0    / 0          {used:<5}/ 65536         |
+===========================+===============+====================================================+
"""
_PROCESS = """| {npu:<7} 0                 | {pid:<13} | {name:<24} | {memory:<23} |
+===========================+===============+====================================================+
"""


def read(name: str) -> str:
    """A text in tests/data/npu-smi."""
    return (DATA / f"{name}.txt").read_text()


def card(npu: int, load: int = 0, used: int = 3400, health: str = "OK", name: str = "910B2") -> str:
    """The rows of one card of a 910B."""
    return _ROW.format(npu=npu, load=load, used=used, health=health, name=name)


def user(npu: int, pid: int, memory: int, name: str = "python") -> str:
    """The row of one process."""
    return _PROCESS.format(npu=npu, pid=pid, memory=memory, name=name)


def table(*cards: str, users: Sequence[str] = ()) -> str:
    """A whole `npu-smi info` of a 910B host."""
    head, process_head = read("910b_two_cards_and_a_process").split("| 4     910B3")[0], ""
    lines = read("910b_two_cards_and_a_process").splitlines(keepends=True)
    process_head = "".join(lines[12:15])
    return head + "".join(cards) + process_head + "".join(users)


class Tool:
    """Answers as npu-smi would; `texts` by the words behind its name. `asked` are the commands that were run."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.asked: list[str] = []
        self.timed_out = False
        self.environ = {"PATH": str(folder)}
        folder.mkdir(exist_ok=True)
        (folder / "npu-smi").write_text("#!/bin/sh\n")
        (folder / "npu-smi").chmod(0o755)

    def __call__(self, argv: Sequence[str], env: Mapping[str, str], timeout_s: float) -> Heard:
        words = " ".join(argv[1:])
        self.asked.append(words)
        text = self.texts.get(words, "")
        return Heard(
            returncode=None if self.timed_out else 0 if text else 1,
            signal=9 if self.timed_out else None,
            timed_out=self.timed_out,
            elapsed_s=0.0,
            text=text,
            is_cut=False,
        )


def host(folder: Path, info: str, **more: str) -> tuple[Npu, Tool]:
    """An NPU device on a host whose npu-smi says this; no device files."""
    tool = Tool(folder / "bin", {"info": info, **more})
    return Npu(tool, dev=folder / "dev"), tool


def request(
    leases: Path, id: int | None = None, physical: int | None = None, busy: str = "wait", wait_s: float = 0
) -> Run:
    """A request for an NPU."""
    asked = Device(kind="npu", threads=1, id=id, physical=physical, busy=busy)
    return Run(device=asked, lease=Lease(dir=str(leases), wait_s=wait_s))
