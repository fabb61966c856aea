"""From the account of a side to samples, failures and what a row tells of the records."""

from __future__ import annotations

from typing import Any

import pytest

from msprun.measure.booking import book, failure, is_suspect
from msprun.measure.records import flags, kernels, merged, operators, sum_us
from msprun.measure.tally import Tally, row
from msprun.model.call import Accounts, CallTime, KernelShare, Refusal, SideAccount
from msprun.model.case import Case
from msprun.model.measurement import Sample
from msprun.model.plan import Metric
from tests.report import plans
from tests.report.results import all_good


def account(**more: Any) -> SideAccount:
    fields: dict[str, Any] = {
        "case": 0, "side": "candidate", "verdict": "exact", "source": "op_summary", "borders": "markers", "rows": 4,
        "calls": 2, "expected": 2,
    }  # fmt: skip
    return SideAccount(**(fields | more))


def host(group: int) -> Sample:
    return Sample(
        case=0, side="candidate", phase="timed", visit=0, group=group, calls=1, elapsed_ns=900_000
    )  # fmt: skip


def tally() -> Tally:
    case = Case(index=0, name="case0", shape_label="[2]", dtype_label="float32")
    return Tally(case, plans.plan(all_good()), lambda entry: None)


@pytest.mark.parametrize(("metric", "expected"), [("device", 20_000), ("span", 30_000), ("host", 900_000)])
def test_the_metric_decides_which_time_counts_and_all_three_are_kept(metric: Metric, expected: int) -> None:
    known = tally()
    times = (CallTime(number=5, device_ns=20_000, span_ns=30_000, kernels=2),)
    book(known, account(times=times), {5: host(0)}, metric)
    (sample,) = known.samples
    assert sample.elapsed_ns == expected
    assert (sample.device_ns, sample.span_ns, sample.host_ns) == (20_000, 30_000, 900_000)


def test_calls_of_a_visit_that_was_given_up_are_no_samples() -> None:
    known = tally()
    times = tuple(CallTime(number=n, device_ns=20_000, span_ns=20_000, kernels=2) for n in (5, 6))
    book(known, account(times=times), {6: host(1)}, "device")
    assert [sample.group for sample in known.samples] == [1]


@pytest.mark.parametrize("verdict", ["no_kernels", "unsplit", "not_measurable"])
def test_a_side_without_a_sound_time_has_a_failure_that_names_the_verdict(verdict: Any) -> None:
    refusals = (Refusal(method="markers", code="no_markers"),)
    found = failure(account(verdict=verdict), Accounts(sides=(), borders=None, refusals=refusals), "log")
    assert found is not None
    assert (found.stage, found.kind) == ("accounting", verdict)
    assert found.message.startswith(verdict)
    assert ("markers: no_markers" in found.message) is (verdict == "unsplit")
    assert "\n" not in found.message


def test_the_collectors_own_words_are_for_sides_that_it_left_no_records_of() -> None:
    nothing = Accounts(sides=(), borders=None)
    found = failure(account(verdict="not_measurable"), nothing, "log", "msprof: it broke", "mend it")
    assert found is not None
    assert found.message.endswith("(msprof: it broke)") and found.hint == "mend it"
    plain = failure(account(verdict="not_measurable"), nothing, "log")
    assert plain is not None and plain.hint is not None
    assert "(" not in plain.message and "keep_prof=true" in plain.hint
    silent = failure(account(verdict="no_kernels"), nothing, "log", "msprof: it broke", "mend it")
    assert silent is not None and "broke" not in silent.message and silent.hint != "mend it"


@pytest.mark.parametrize(
    ("reason", "is_checked"),
    [("no_capture", True), ("no_table", True), ("nothing_recorded", True), ("other_device", False)],
)
def test_who_has_no_data_of_the_device_is_told_what_to_check(reason: str, is_checked: bool) -> None:
    """vllm-project/vllm-ascend#8933: no data of the device was written, and no error was shown."""
    found = failure(
        account(verdict="not_measurable", figures={"reason": reason}), Accounts(sides=(), borders=None), "log"
    )
    assert found is not None and found.hint is not None
    assert [word in found.hint for word in ("disk", "rights", "driver")] == [is_checked] * 3
    assert "session's log" in found.hint


@pytest.mark.parametrize("verdict", ["exact", "lost_rows", "varying_kernels", "low_clock", "shared_device"])
def test_a_flagged_time_is_still_a_time(verdict: Any) -> None:
    assert failure(account(verdict=verdict), Accounts(sides=(), borders="markers"), "log") is None
    assert is_suspect(account(verdict=verdict)) is (verdict == "lost_rows")


def test_several_sessions_are_as_good_as_the_worst_and_their_rows_add_up() -> None:
    one, two = account(rows=4, calls=2, expected=2), account(verdict="lost_rows", rows=3, calls=1, expected=2)
    found = merged([one, two, one])
    assert (found.verdict, found.rows, found.calls, found.expected) == ("lost_rows", 11, 5, 6)


def test_kernels_keep_their_names_counts_and_cores() -> None:
    share = KernelShare(
        name="add", task_kind="AI_VECTOR_CORE", block_num=40, count=2.0, duration_us=5.5, input_shapes=None
    )
    (kernel,) = kernels([account(), account(kernels=(share,))])
    assert (kernel.name, kernel.kind, kernel.block_num, kernel.count, kernel.duration_us) == (
        "add", "AI_VECTOR_CORE", 40, 2.0, 5.5,
    )  # fmt: skip


def test_a_row_tells_the_account_of_a_side_that_has_no_time() -> None:
    known = tally()
    book(known, account(verdict="no_kernels", rows=0, calls=0), {}, "device")
    found = row(known).accounting["candidate"]
    assert (found.verdict, found.rows, found.expected) == ("no_kernels", 0, 2)


def test_what_was_measured_in_vain_leaves_no_trace() -> None:
    known = tally()
    times = (CallTime(number=5, device_ns=20_000, span_ns=30_000, kernels=2),)
    book(known, account(times=times), {5: host(0)}, "device")
    known.again()
    assert known.samples == []
    assert row(known).accounting == {}


def test_what_was_measured_in_vain_comes_back_where_nothing_better_came() -> None:
    known = tally()
    times = (CallTime(number=5, device_ns=20_000, span_ns=30_000, kernels=2),)
    lossy = account(verdict="lost_rows", times=times)
    book(known, lossy, {5: host(0)}, "device")
    known.again()()
    assert [sample.group for sample in known.samples] == [0]
    assert known.sides["candidate"].accounts == [lossy]
    back = known.again()
    book(known, account(times=times), {5: host(1)}, "device")
    back()
    assert [sample.group for sample in known.samples] == [1]
    assert len(known.sides["candidate"].accounts) == 1


def test_a_flagged_time_is_remarked_with_its_figures() -> None:
    counts, clock = {"calls": 2, "total": 3}, {"mhz": 800.0, "rated_mhz": 1800.0}
    verdicts: dict[Any, dict[str, Any]] = {"lost_rows": counts, "varying_kernels": counts, "low_clock": clock}
    for verdict, told in verdicts.items():
        flagged = account(verdict=verdict, expected=3, figures={"clock": clock})
        (found,) = flags([account(), flagged], "candidate")
        assert (found.code, found.figures) == (verdict, {"side": "candidate", **told})


def test_an_exact_time_and_one_that_is_none_have_no_flag() -> None:
    assert flags([account(), account(verdict="no_kernels")], "candidate") == ()


def test_kernels_of_one_name_are_one_operator() -> None:
    add = KernelShare(name="add", task_kind="AI_CORE", block_num=8, count=2.0, duration_us=5.5, input_shapes=None)
    other = KernelShare(name="add", task_kind="AI_CORE", block_num=40, count=1.0, duration_us=2.0, input_shapes=None)
    (found,) = operators([account(kernels=(add, other))])
    assert (found.name, found.calls, found.duration_us) == ("add", 3, 7.5)
    assert sum_us([found]) == 7.5
    assert sum_us([]) is None
