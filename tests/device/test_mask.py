"""What ASCEND_RT_VISIBLE_DEVICES may say, before CANN reads it in its own way."""

from __future__ import annotations

import pytest

from msprun.device.mask import NAME, check_range, visible
from msprun.errors import MachineError


def test_no_variable_is_no_mask() -> None:
    assert visible({}) is None


@pytest.mark.parametrize(("text", "ids"), [("0", (0,)), ("4,5,6,7", (4, 5, 6, 7)), ("0,15", (0, 15))])
def test_a_list_that_ascends_is_a_mask(text: str, ids: tuple[int, ...]) -> None:
    assert visible({NAME: text}) == ids


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "is empty", f"unset {NAME}, or name devices: {NAME}=0,1"),
        (" ", "is empty", f"unset {NAME}, or name devices: {NAME}=0,1"),
        ("0-3", "no list of device numbers", f"{NAME}=0,1,2,3"),
        ("0, 1", "no list of device numbers", f"{NAME}=0,1"),
        ("4,0-2", "no list of device numbers", f"{NAME}=0,1,2,4"),
        ("all", "no list of device numbers", f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"),
        ("0,,1", "no list of device numbers", f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"),
        ("0,1,", "no list of device numbers", f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"),
        ("-1", "no list of device numbers", f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"),
        ("0-99999999", "no list of device numbers", f"whole numbers, ascending, commas and no blanks: {NAME}=0,1"),
        ("٣", "no list of device numbers", None),
        ("1,1,2", "names device 1 twice", f"{NAME}=1,2"),
        ("2,0,1", "does not ascend", f"{NAME}=0,1,2"),
        ("0,2,4,6,1,3,5,7", "does not ascend", f"{NAME}=0,1,2,3,4,5,6,7"),
    ],
)
def test_what_cann_would_refuse_or_cut_off_is_refused_in_a_line(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(MachineError, match=message) as caught:
        visible({NAME: text})
    assert "\n" not in caught.value.message
    if hint is not None:
        assert caught.value.hint == hint


def test_a_mask_within_the_host_passes() -> None:
    check_range((0, 2), (0, 1, 2), None)
    with pytest.raises(MachineError, match="names device 3, and this host has device 0"):
        check_range((0, 3), (0,), None)
