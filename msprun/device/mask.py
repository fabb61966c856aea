"""ASCEND_RT_VISIBLE_DEVICES: which devices a process may see, and what torch calls them then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msprun.errors import MachineError
from msprun.model.npu import Chip

NAME = "ASCEND_RT_VISIBLE_DEVICES"


def visible(environ: Mapping[str, str]) -> tuple[int, ...] | None:
    """The logic ids that the variable names; None where it is not set.

    Raises MachineError for what CANN refuses (EE2002, EE1001) or, worse, cuts off silently at the first odd character:
    ranges, blanks, repeated ids, ids that do not ascend, nothing at all.
    """
    text = environ.get(NAME)
    if text is None:
        return None
    if not text.strip():
        raise MachineError(f"{NAME} is empty, so no device can be seen", f"unset {NAME}, or name devices: {NAME}=0,1")
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise MachineError(f"{NAME}={text} is no list of device numbers", _spelled(text))
    found = tuple(int(word) for word in words)
    twice = sorted({number for number in found if found.count(number) > 1})
    if twice:
        raise MachineError(f"{NAME}={text} names device {twice[0]} twice", f"{NAME}={_joined(sorted(set(found)))}")
    if list(found) != sorted(found):
        raise MachineError(
            f"{NAME}={text} does not ascend, and then CANN shows no device", f"{NAME}={_joined(sorted(found))}"
        )
    return found


def check_range(mask: Sequence[int], known: Sequence[int], chips: Sequence[Chip] | None) -> None:
    """Raises MachineError where a mask names a logic id that this host has not; CANN would drop it without a word."""
    beyond = [number for number in mask if number not in known]
    if not beyond:
        return
    there = f"device{'' if len(known) == 1 else 's'} {_joined(known)}"
    hint = f"it counts logic ids (npu-smi info -m): {NAME}={_joined(known)}"
    cards = {chip.npu_id: chip.logic_id for chip in chips or ()}
    meant = [str(cards.get(number, number)) for number in mask]
    if beyond[0] in cards and len(set(meant)) == len(meant):
        hint = f"these look like NPU ids of npu-smi; as logic ids they are {NAME}={','.join(meant)}"
    raise MachineError(f"{NAME}={_joined(mask)} names device {beyond[0]}, and this host has {there}", hint)


def _spelled(text: str) -> str:
    """A range or a list with blanks as it should be written."""
    numbers: list[int] = []
    for part in text.replace(" ", "").split(","):
        low, dash, high = part.partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or (dash and int(high) - int(low) > 1024):
            return f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"
        numbers += range(int(low), int(high or low) + 1)
    return f"{NAME}={_joined(sorted(set(numbers)))}"


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(str(number) for number in numbers)
