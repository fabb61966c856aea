"""Which cases a request asks for."""

import pytest

from msprun.errors import ConfigError
from msprun.model.case import Case
from msprun.source.selection import select

CASES = tuple(
    Case(index=i, name=n, shape_label="?", dtype_label="?") for i, n in enumerate(("small", "large", "case2", "0d"))
)


@pytest.mark.parametrize(
    ("wanted", "max_cases", "chosen"),
    [
        (None, None, (0, 1, 2, 3)), (None, 2, (0, 1)), (None, 9, (0, 1, 2, 3)), (2, None, (2,)), ("large", None, (1,)),
        ("3", None, (3,)), ("0d", None, (3,)), ([3, 0], None, (3, 0)), (("large", 0, "1", "large"), None, (1, 0)),
        ([3, 1, 0], 2, (3, 1)), ([1, 1, 2], 2, (1, 2)),
    ],
)  # fmt: skip
def test_cases_are_chosen_in_the_order_asked(wanted, max_cases, chosen):
    assert select(CASES, wanted, max_cases) == chosen


@pytest.mark.parametrize(
    "wanted", [-1, 4, "-1", "4", "9" * 5000, "nosuch", True, 1.0, [0, None], [[0]], {"a": 1}, "", b"0", "a\nb"]
)
def test_what_is_no_case_is_refused_with_the_range(wanted):
    with pytest.raises(ConfigError) as caught:
        select(CASES, wanted, None)
    assert "there is no case" in caught.value.message
    assert "0 to 3" in caught.value.hint
    assert "\n" not in caught.value.message and len(caught.value.message) < 200


def test_a_name_chooses_itself_and_none_that_begins_or_ends_like_it():
    """meta-pytorch/BackendBench#111: the filter relu also matched leaky_relu."""
    names = ("add_rms_norm", "add", "add_v2", "leaky_add")
    cases = tuple(Case(index=i, name=n, shape_label="?", dtype_label="?") for i, n in enumerate(names))
    assert select(cases, "add", None) == (1,)
    with pytest.raises(ConfigError, match="there is no case"):
        select(cases, "ad", None)


def test_near_names_are_offered():
    with pytest.raises(ConfigError) as caught:
        select(CASES, ["smal"], None)
    assert "did you mean small" in caught.value.hint


def test_text_with_commas_is_shown_as_a_list():
    with pytest.raises(ConfigError) as caught:
        select(CASES, "0,2", None)
    assert caught.value.hint == "type cases=[0,2]"


@pytest.mark.parametrize(("cases", "wanted"), [(CASES, []), (CASES, ()), ((), None)])
def test_nothing_selected_is_an_error(cases, wanted):
    with pytest.raises(ConfigError, match="the selection is empty"):
        select(cases, wanted, None)


@pytest.mark.parametrize("count", [0, -3, True])
def test_count_below_one_is_refused(count):
    with pytest.raises(ConfigError, match="max_cases"):
        select(CASES, None, count)
