"""Every remark that has words: one test that makes it appear, and one that is close to it and must not."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from msprun.resources import data_root

HERE = Path(__file__).parent
STEADY = "stat/test_steadiness.py"
HEAPS = "stat/test_populations.py"
DOUBT = "stat/test_doubt.py"
REMARKS = "stat/test_remarks.py"
LIKE = "stat/test_likeness.py"
ATTACK = "worker/test_attack.py"
SESSION = "worker/test_session.py"
WORK = "measure/test_work.py"
BUSY = "device/test_busy.py"
LOOK = "measure/test_breakdown.py"
HONEST = (ATTACK, "test_an_honest_operator_passes_without_a_note")
CANN = "device/test_cann.py"
WHOLE_CANN = (CANN, "test_a_sourced_cann_with_its_torch_npu_has_no_finding")
ACCOUNT = "account/test_side.py"
PLAIN_ACCOUNT = (ACCOUNT, "test_one_name_with_two_shapes_is_nothing_to_remark")
FLAGGED = (
    ("measure/test_booking.py", "test_a_flagged_time_is_remarked_with_its_figures"),
    ("measure/test_booking.py", "test_an_exact_time_and_one_that_is_none_have_no_flag"),
)
BUILD = "source/test_build.py"
WAIT = "stat/test_waiting.py"
Test = tuple[str, str]
# code: (the test that makes it appear, and names it; the one that must not).
TESTS: dict[str, tuple[Test, Test]] = {
    "drift": (
        (STEADY, "test_a_slow_drift_is_told"), (STEADY, "test_a_small_or_doubtful_drift_is_none"),
    ),
    "two_populations": (
        (HEAPS, "test_two_heaps_are_told_with_their_distance_and_the_upper_share"),
        (HEAPS, "test_one_heap_of_any_shape_is_seldom_two"),
    ),
    "gc_or_cache": (
        (HEAPS, "test_rare_times_far_away_are_told"),
        (HEAPS, "test_a_tail_two_outliers_or_a_heap_far_away_is_something_else"),
    ),
    "first_call": (
        (REMARKS, "test_a_first_call_of_30_ms_is_a_start_up_cost_and_in_no_average"),
        (REMARKS, "test_steady_samples_need_no_remark"),
    ),
    "visits_differ": (
        (STEADY, "test_visits_that_disagree_are_told_with_their_extremes"),
        (STEADY, "test_visits_that_agree_within_their_noise_or_3_percent_are_not"),
    ),
    "unsteady_warmup": (
        (STEADY, "test_a_warm_up_that_ends_while_calls_get_faster_says_what_to_type"),
        (REMARKS, "test_steady_samples_need_no_remark"),
    ),
    "fallback_block": (
        (STEADY, "test_a_clock_that_sees_nothing_is_told"), (REMARKS, "test_steady_samples_need_no_remark"),
    ),
    "few_samples": (
        (REMARKS, "test_few_groups_say_what_to_type"), (REMARKS, "test_steady_samples_need_no_remark"),
    ),
    "sequential_order": (
        (REMARKS, "test_sequential_order_is_said"), (REMARKS, "test_steady_samples_need_no_remark"),
    ),
    "uneven_calls": (
        (LIKE, "test_every_nth_call_that_works_while_the_others_replay_is_told"),
        (LIKE, "test_no_noise_is_uneven"),
    ),
    "too_good": (
        (DOUBT, "test_more_than_ten_times_as_fast_is_doubted"),
        (DOUBT, "test_ten_times_is_believed_and_a_slow_candidate_too"),
    ),
    "low_coverage": (
        (DOUBT, "test_a_call_that_operators_do_not_explain_is_told"), (DOUBT, "test_half_of_a_call_is_enough"),
    ),
    "same_kernels": (
        (DOUBT, "test_the_same_operators_as_often_are_told_with_their_number"),
        (DOUBT, "test_other_operators_or_none_are_not_the_same"),
    ),
    "no_own_kernels": (
        (DOUBT, "test_a_candidate_that_runs_nothing_is_told"),
        (DOUBT, "test_an_operator_or_nobody_who_looked_is_nothing_to_tell"),
    ),
    "served_from_l2": (
        (WORK, "test_between_half_and_the_floor_the_number_stays_with_a_remark"),
        (WORK, "test_rates_and_floor_stand_in_the_row"),
    ),
    "above_peak": (
        (WORK, "test_between_half_and_the_floor_the_number_stays_with_a_remark"),
        (WORK, "test_rates_and_floor_stand_in_the_row"),
    ),
    "work_unknown": (
        (WORK, "test_real_arguments_that_do_not_fit_are_a_remark"), (WORK, "test_rates_and_floor_stand_in_the_row"),
    ),
    "no_breakdown": (
        (LOOK, "test_a_side_that_fails_here_keeps_its_times_and_is_told"),
        (LOOK, "test_calls_of_other_operators_are_told_and_the_same_ones_are_not"),
    ),
    "kernels_vary": (
        (LOOK, "test_calls_of_other_operators_are_told_and_the_same_ones_are_not"), HONEST,
    ),
    "harness_touched": ((ATTACK, "test_replaced_torch_functions_are_put_back_and_told"), HONEST),
    "globals_changed": ((ATTACK, "test_threads_that_a_side_takes_are_told_and_taken_back"), HONEST),
    "output_is_input": ((ATTACK, "test_an_input_handed_out_as_output_is_told"), HONEST),
    "outputs_share_memory": ((ATTACK, "test_a_static_output_buffer_is_a_remark_only"), HONEST),
    "sides_apart": (
        ("measure/test_crew.py", "test_sides_that_do_not_fit_together_are_checked_one_after_the_other"),
        ("measure/test_crew.py", "test_sides_that_fit_stay_side_by_side"),
    ),
    "prepared_contents": (
        (ATTACK, "test_a_result_made_before_the_clock_runs_is_told"),
        (ATTACK, "test_a_plan_made_of_integers_stays_valid"),
    ),
    "contents_not_changed": (
        ("worker/test_contents.py", "test_an_attack_without_other_contents_says_so_and_repeats_the_call"), HONEST,
    ),
    "same_library": (
        ("worker/test_against.py", "test_extensions_of_one_name_are_both_loaded_and_equal_ones_are_told"),
        ("worker/test_against.py", "test_libraries_that_differ_are_no_pair"),
    ),
    "provider_failed": (
        (SESSION, "test_a_provider_that_fails_is_noted_and_the_descriptors_serve"), HONEST,
    ),
    "same_build": (
        ("source/test_older.py", "test_a_build_that_was_not_built_again_is_seen"),
        ("source/test_older.py", "test_files_of_the_older_build_are_known_too"),
    ),
    "no_msprof": ((CANN, "test_no_msprof_means_the_other_profiler_and_is_said"), WHOLE_CANN),
    "two_canns": ((CANN, "test_of_two_canns_the_first_on_path_is_used_and_both_are_named"), WHOLE_CANN),
    "two_libraries": ((CANN, "test_a_library_of_another_cann_than_the_home_is_said"), WHOLE_CANN),
    "cann_half_sourced": ((CANN, "test_libraries_without_their_home_are_said"), WHOLE_CANN),
    "cann_not_there": ((CANN, "test_a_home_that_is_not_there_is_said"), WHOLE_CANN),
    "device_busy": (
        (BUSY, "test_who_was_there_before_and_who_came_are_two_remarks"),
        (BUSY, "test_a_quiet_session_has_no_remark"),
    ),
    "shared_device": (
        (BUSY, "test_a_load_that_came_without_a_process_is_somebodys_too"),
        (BUSY, "test_a_quiet_session_has_no_remark"),
    ),
    "memory_kept": (
        (BUSY, "test_memory_that_a_session_does_not_give_back_is_said"),
        (BUSY, "test_a_quiet_session_has_no_remark"),
    ),
    "unhealthy_device": (
        (BUSY, "test_a_device_that_is_not_healthy_is_said"),
        (BUSY, "test_a_quiet_session_has_no_remark"),
    ),
    "bad_table": (
        ("measure/test_reckon.py", "test_a_torn_row_is_said_with_file_and_line_and_costs_its_call"),
        ("measure/test_reckon.py", "test_a_whole_table_has_no_remark_and_each_call_its_time"),
    ),
    "ai_cpu": ((ACCOUNT, "test_ai_cpu_counts_and_is_a_remark"), PLAIN_ACCOUNT),
    "one_name": ((ACCOUNT, "test_one_name_with_two_numbers_of_blocks_is_two_kernels_and_a_remark"), PLAIN_ACCOUNT),
    "many_blocks": (
        ("measure/test_reckon.py", "test_blocks_are_held_against_the_cores_that_msprof_noted"), PLAIN_ACCOUNT,
    ),
    "unknown_tasks": (
        (ACCOUNT, "test_unknown_tasks_in_a_silent_side_leave_it_unmeasured"), PLAIN_ACCOUNT,
    ),
    "lost_rows": FLAGGED,
    "varying_kernels": FLAGGED,
    "low_clock": FLAGGED,
    "no_boost": (
        ("measure/test_recording.py", "test_a_boost_that_fails_is_told_and_costs_no_call"),
        ("measure/test_recording.py", "test_what_is_no_call_is_in_the_schedule_and_counts_nowhere"),
    ),
    "span_differs": (
        (WAIT, "test_kernels_with_gaps_between_them_are_told_with_both_times"),
        (WAIT, "test_the_usual_pauses_streams_side_by_side_and_a_clock_alone_are_none"),
    ),
    "host_bound": (
        (WAIT, "test_a_host_that_takes_longer_than_twice_the_device_is_told"),
        (WAIT, "test_a_long_kernel_or_a_clock_alone_is_not_bound_by_the_host"),
    ),
    "stale_build": (
        (BUILD, "test_a_source_that_is_newer_than_the_library_makes_it_stale"),
        (BUILD, "test_a_library_that_is_as_new_as_its_sources_is_not_stale"),
    ),
    "debug_build": (
        (BUILD, "test_a_kernel_that_prints_is_a_debug_build"),
        (BUILD, "test_comments_host_code_and_other_names_are_none"),
    ),
    "weights_differ": ((SESSION, "test_weights_that_have_no_twin_are_noted"), HONEST),
}  # fmt: skip


def test_every_code_with_words_is_made_to_appear_and_not_to() -> None:
    words = json.loads((data_root() / "templates" / "strings" / "en.json").read_text(encoding="utf-8"))
    assert set(words["remark"]) == set(TESTS)


@pytest.mark.parametrize("code", sorted(TESTS))
def test_both_tests_are_there_and_the_first_names_the_code(code: str) -> None:
    loud, quiet = (_source(*place) for place in TESTS[code])
    assert loud is not None and code in loud
    assert quiet is not None and quiet != loud


def _source(file: str, name: str) -> str | None:
    """The text of a test function."""
    text = (HERE / file).read_text(encoding="utf-8")
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return ast.get_source_segment(text, found[0]) if found else None
