"""What msprof is asked for, and what its words mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from msprun.profiler.msprof import Msprof

SUCCESS = """\
[INFO] Start profiling....
result: 3
[INFO] Start export data in PROF_000001_20260605161708478_FRJKORBPFMHQMGLA.
[INFO] Profiling finished.
[INFO] Process profiling data complete. Data is saved in /tmp/PROF_000001_20260605161708478_FRJKORBPFMHQMGLA
"""


def died(words: str) -> str:
    return f"[INFO] Start profiling....\n[WARNING] An exception has occurred in process App, return code: {words}.\n"


def test_the_worker_follows_the_options_and_counters_are_off() -> None:
    command = Msprof().command(Path("/venv/bin/python"), Path("/run/sessions/1/wrapper.py"))
    assert command[0] == "msprof"
    assert command[-2:] == ("/venv/bin/python", "/run/sessions/1/wrapper.py")
    assert {"--output=/run/sessions/1", "--ai-core=off", "--task-time=on", "--msproftx=on"} <= set(command[1:-2])
    assert all(word.startswith("--") and "=" in word for word in command[1:-2])


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Operation not permitted", 1),  # a Python exception
        ("No such file or directory", 2),  # argparse, or SIGINT
        ("No such process", 3),  # an exit code of the application's own, without a word
        ("No such device or address", 6),  # abort
        ("Bad file descriptor", 9),  # killed
        ("Resource temporarily unavailable", 11),  # segmentation fault
        ("Key has expired", 127),  # command not found
    ],
)
def test_an_exit_code_or_signal_is_read_out_of_the_words_for_an_error(words: str, number: int) -> None:
    """vllm-project/vllm-ascend#14974, hicann/cannbot-skills: msprof ends with 0 where its application crashed."""
    said = Msprof().complaint(died(words))
    assert said is not None
    assert f"exit code or signal {number} " in said
    assert words in said  # as users see it in msprof's own output


def test_words_that_no_number_has_are_told_as_they_are() -> None:
    assert Msprof().complaint(died("Something new")) == "msprof says that the application died: Something new"


def test_what_went_well_is_no_complaint() -> None:
    assert Msprof().complaint(SUCCESS) is None


def test_an_exception_that_the_application_caught_is_no_complaint() -> None:
    """hicann/cannbot-skills: crashes were told by the tracebacks that a program prints."""
    caught = 'Traceback (most recent call last):\n  File "model.py", line 3, in forward\nValueError: no fast path\n'
    assert Msprof().complaint(SUCCESS.replace("result: 3\n", f"{caught}result: 3\n")) is None


def test_the_first_error_is_told_where_the_application_did_not_die() -> None:
    said = (
        "[ERROR] Argument --aic-metrics L2Cache is invalid in this platform, please check input range\n"
        "[ERROR] Running profiling failed. Please check log for more info.\n"
    )
    assert Msprof().complaint(said) == (
        "msprof: Argument --aic-metrics L2Cache is invalid in this platform, please check input range"
    )


@pytest.mark.parametrize(
    ("said", "is_occupied"),
    [
        ("Prof channel[3] of device[0] is occupied, which may cause by multi-process", True),
        ("EE4004 Failed to enable profiling. Reason: sample based profiling is ongoing", True),
        (SUCCESS, False),
    ],
)
def test_another_collection_on_the_device_is_known_by_its_words(said: str, is_occupied: bool) -> None:
    assert Msprof().is_occupied(said) is is_occupied


def test_captures_are_real_folders_of_a_session_alone(tmp_path: Path) -> None:
    for name in ("PROF_000001_20260605161708478_FRJKORBPFMHQMGLA", "PLATFORM_20260605", "worker"):
        (tmp_path / name).mkdir()
    (tmp_path / "PROF_file").write_text("")
    (tmp_path / "PROF_link").symlink_to(tmp_path / "worker")
    assert [path.name for path in Msprof().captures(tmp_path)] == ["PROF_000001_20260605161708478_FRJKORBPFMHQMGLA"]


def test_an_export_names_the_capture() -> None:
    assert Msprof().export(Path("/s/PROF_1")) == ("msprof", "--export=on", "--output=/s/PROF_1")


def test_only_a_word_that_is_refused_and_dispensable_is_left_out() -> None:
    usage = "      --msproftx=<on|off>             user markers, default off\n"
    assert Msprof().refused(f"[ERROR] unrecognized option '--msproftx=on'\n{usage}") == ("--msproftx=on",)
    assert Msprof().refused(f"[ERROR] unrecognized option '--ai-core=off'\n{usage}") == ()
    assert Msprof().refused(SUCCESS) == ()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("success-2026-03.txt", None),
        ("success-device1-2024-11.txt", None),
        ("asys-sample-based-2025-11.txt", None),
        ("msprof-op-910b2-2026-05.txt", None),
        # Exit code 1 before anything ran on the device.
        ("app-exit1-no-data-cann9.0.0.txt", "exit code or signal 1 "),
    ],
)
def test_real_output_is_understood(samples: Path, name: str, complaint: str | None) -> None:
    said = Msprof().complaint((samples / "msprof-stdout" / name).read_text(errors="replace"))
    assert said is None if complaint is None else said is not None and complaint in said
