"""The fake msprof prints and ends as the real one is known to, and makes its folders."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import time

import pytest

from tests.fakes_cann.apps import LOG

pytestmark = pytest.mark.process

NO_DATA = (
    "[ERROR] Failed to find profiling data, please check that the application executes AI-related business, or ensure "
    "that aclInit/GEInitialize is invoked in the application\n"
    "[ERROR] Running profiling failed. Please check log for more info.\n"
)
WARNING = "[WARNING] An exception has occurred in process App, return code: {}."
HANGS = LOG + "print('up', flush=True)\nwhile True:\n    time.sleep(0.05)\n"


def plain(names: list[str]) -> list[str]:
    """Names of files without the time in them."""
    return sorted(re.sub(r"_\d{14}\.", "_T.", name) for name in names)


def test_a_good_run_says_its_steps_in_order_around_what_the_app_says(machine) -> None:
    app = machine.app("import sys\nprint('the app')\nprint('its trouble', file=sys.stderr)\n" + LOG)
    done = machine.run("msprof", "--output=out", "python3", app, "3")
    (prof,) = machine.profs
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "its trouble\n")
    assert said[:5] == [
        "[INFO] Start profiling....",
        "the app",
        f"[INFO] Start export data in {prof.name}.",
        f"[INFO] Export all data in {prof.name} done.",
        f"[INFO] Start query data in {prof.name}.",
    ]
    assert said[5].split("  ")[0] == "Job Info" and [line.split()[0] for line in said[6:8]] == ["NA", "NA"]
    assert [line.split()[-1] for line in said[6:8]] == ["-1", "-1"] and "device_0" in said[7]
    assert said[8:] == [
        f"[INFO] Query all data in {prof.name} done.",
        "[INFO] Profiling finished.",
        f"[INFO] Process profiling data complete. Data is saved in {prof}",
    ]


def test_the_messages_are_those_of_a_real_run(machine, samples) -> None:
    real = (samples / "msprof-stdout" / "success-device1-2024-11.txt").read_text()
    done = machine.collect(APP_DEVICE="1")
    (prof,) = machine.profs
    texts = [
        [re.sub(r"\S*PROF_0\w+", "PROF", line).rstrip() for line in text.splitlines() if line.startswith("[INFO]")]
        for text in (real, done.stdout)
    ]
    assert texts[1][1:] == texts[0] and (prof / "device_1" / "info.json.1").is_file()


def test_newer_releases_put_a_full_stop_behind_folders(machine) -> None:
    done = machine.collect(FAKE_CANN_CANN="9.0")
    assert done.stdout.endswith(f"Data is saved in {machine.profs[0]}.\n")


def test_the_tree_has_the_layout_and_names_of_a_release(machine) -> None:
    machine.collect()
    (prof,) = machine.profs
    assert re.fullmatch(r"PROF_000001_\d{17}_[A-R]{16}", prof.name)
    assert plain(os.listdir(prof)) == ["device_0", "host", "mindstudio_profiler_log", "mindstudio_profiler_output"]
    assert plain(os.listdir(prof / "device_0")) == ["data", "info.json.0", "sqlite", "start_info.0"]
    assert plain(os.listdir(prof / "mindstudio_profiler_output")) == [
        "README.txt", "api_statistic_T.csv", "msprof_T.json", "op_statistic_T.csv", "op_summary_T.csv",
        "task_time_T.csv",
    ]  # fmt: skip
    assert {stat.S_IMODE(path.stat().st_mode) & 0o027 for path in (prof, *machine.files("op_summary"))} == {0}


def test_newer_names_hold_the_process_and_a_newer_release_writes_a_database(machine) -> None:
    machine.collect(FAKE_CANN_NAMES="new", FAKE_CANN_CANN="9.0")
    (prof,) = machine.profs
    (log,) = (machine.folder / "state").glob("device-*.jsonl")
    pid = int(log.stem.split("-")[1])
    assert re.fullmatch(rf"PROF_000001_\d{{17}}_{pid:08d}[A-R]{{8}}", prof.name)
    assert [re.sub(r"\d{14}", "T", path.name) for path in prof.glob("*.db")] == ["msprof_T.db"]


@pytest.mark.parametrize(
    ("chip", "cubes", "vectors", "mhz", "version"),
    [
        ("910B2", 24, 48, "1800", "5"), ("910B4", 20, 40, "1650", "5"), ("910_9391", 24, 48, "1850", "5"),
        ("310P3", 8, 0, "1080", "4"), ("950", 28, 56, "1650", "15"),
    ],
)  # fmt: skip
def test_info_json_has_the_cores_and_the_rated_clock_of_the_chip(machine, chip, cubes, vectors, mhz, version) -> None:
    machine.collect(FAKE_CANN_CHIP=chip)
    info = json.loads((machine.profs[0] / "device_0" / "info.json.0").read_text())
    (device,) = info["DeviceInfo"]
    assert (device["ai_core_num"], device["aiv_num"], device["aic_frequency"]) == (cubes, vectors, mhz)
    assert info["platform_version"] == version


def test_every_process_on_a_device_gets_a_folder(machine) -> None:
    twice = "import subprocess, sys\nfor _ in range(2):\n    subprocess.run([sys.executable, 'child.py', '2'])\n"
    machine.app(LOG, "child.py")
    done = machine.run("msprof", "--output=out", "python3", machine.app(twice))
    assert [prof.name[:11] for prof in machine.profs] == ["PROF_000001", "PROF_000002"]
    assert done.stdout.count("Process profiling data complete") == 2


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("sys.exit(1)", "Operation not permitted"), ("sys.exit(2)", "No such file or directory"),
        ("sys.exit(127)", "Key has expired"), ("os.kill(os.getpid(), 6)", "No such device or address"),
        ("os.kill(os.getpid(), 9)", "Bad file descriptor"),
        ("os.kill(os.getpid(), 11)", "Resource temporarily unavailable"),
        ("os.kill(os.getpid(), 15)", "Block device required"),
    ],
)  # fmt: skip
def test_an_app_that_dies_with_data_is_a_warning_and_0(machine, ending, text) -> None:
    done = machine.run("msprof", "--output=out", "python3", machine.app(f"{LOG}\n{ending}"), "2")
    assert done.returncode == 0 and WARNING.format(text) in done.stdout
    assert len(machine.table("op_summary")) == 2


@pytest.mark.parametrize(
    ("ending", "warning"),
    [("", ""), ("import sys; sys.exit(1)", WARNING.format("Operation not permitted") + "\n")],
)
def test_an_app_that_never_used_the_device_is_255(machine, ending, warning) -> None:
    done = machine.run("msprof", "--output=out", "python3", machine.app(ending))
    assert (done.returncode, done.stdout) == (255, "[INFO] Start profiling....\n" + warning + NO_DATA)
    assert machine.profs == []


def test_the_words_for_no_data_are_the_real_ones(machine, samples) -> None:
    real = (samples / "msprof-stdout" / "app-exit1-no-data-cann9.0.0.txt").read_text()
    done = machine.run("msprof", "--output=out", "python3", machine.app("import sys; sys.exit(1)"))
    assert done.stdout.splitlines() == [line for line in real.splitlines() if line.startswith("[")]


def test_a_command_that_is_not_found_has_expired(machine) -> None:
    done = machine.run("msprof", "--output=out", "python9", "x.py")
    assert done.returncode == 255 and WARNING.format("Key has expired") in done.stdout


def test_the_older_form_splits_at_blanks_and_keeps_quotes(machine) -> None:
    app = machine.app("import sys\nprint(sys.argv[2:])\n" + LOG)
    done = machine.run("msprof", "--output=out", f"--application=python3 {app} 1 'a b'")
    assert """["'a", "b'"]""" in done.stdout


def test_arguments_of_the_app_reach_it_as_they_are(machine) -> None:
    app = machine.app("import sys\nprint(sys.argv[2:])\n" + LOG)
    assert (
        "['a b', '--output=x']"
        in machine.run("msprof", "--output=out", "python3", app, "1", "a b", "--output=x").stdout
    )


def test_without_output_the_current_folder_is_taken(machine) -> None:
    machine.run("msprof", "python3", machine.app(), "1")
    assert len(list(machine.folder.glob("PROF_*"))) == 1


def test_the_app_sees_that_it_is_profiled(machine) -> None:
    app = machine.app("import os\nprint(sorted((n, os.environ[n]) for n in os.environ if n in WANTED))".replace(
        "WANTED", "('FAKE_CANN_MSTX', 'FAKE_CANN_PMU', 'MINE')"
    ))  # fmt: skip
    flags = ["--output=out", "--msproftx=on", "--aic-metrics=Memory", "--environment=MINE=1"]
    assert "[('FAKE_CANN_MSTX', '1'), ('FAKE_CANN_PMU', 'Memory'), ('MINE', '1')]" in machine.run(
        "msprof", *flags, "python3", app
    ).stdout  # fmt: skip
    assert "[('FAKE_CANN_PMU', 'off')]" in machine.run("msprof", "--output=out", "--ai-core=off", "python3", app).stdout


def test_links_and_files_without_right_and_odd_names_are_no_apps(machine) -> None:
    app = machine.app("#!/bin/true\n", "prog")
    link = machine.folder / "link"
    link.symlink_to(app)
    expected = {
        f"{app}": f"App path({app}) has no executable permission!",
        f"{link}": f"App path({link}) is soft link, which is not support!",
        "/no/such": "App path(/no/such) does not exist or permission denied",
        "bash": "an interpreter (python/bash/sh) requires a script or module argument",
        "/usr/bin/python3.11": "an interpreter (python/bash/sh) requires a script or module argument",
        "pmupload": "pmupload is forbidden",
    }
    for word, text in expected.items():
        done = machine.run("msprof", "--output=out", word)
        assert done.returncode == 255 and text in done.stdout and "Start profiling" not in done.stdout


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--ascendcl=maybe", "[ERROR] Argument --ascendcl maybe is invalid"),
        ("--task-time=l3", "l3 is not supported on this platform."),
        ("--aic-metrics=No", "[ERROR] Argument --aic-metrics No is invalid in this platform, please check input range"),
        ("--aic-metrics=Custom:0x1,2,3,4,5,6,7,8,9", "is invalid in this platform"),
        ("--aic-freq=101", "[ERROR] Argument --aic-freq 101 is invalid"),
        ("--storage-limit=100MB", "[ERROR] Argument --storage-limit 100MB is invalid, valid range is"),
        ("--output=a;b", "[ERROR] Argument --output a;b contains invalid character."),
        ("--nothing=on", "[ERROR] unrecognized option '--nothing=on'"),
        ("--output", "[ERROR] Argument --output"),
    ],
)  # fmt: skip
def test_a_bad_option_is_255_before_the_app_starts(machine, flag, text) -> None:
    done = machine.run("msprof", flag, "python3", machine.app("print('the app ran')"))
    assert done.returncode == 255 and text in done.stdout and "the app ran" not in done.stdout


def test_an_output_that_is_no_folder_is_refused(machine, unprivileged) -> None:
    (machine.folder / "file").write_text("")
    done = machine.run("msprof", "--output=file", "python3", machine.app())
    assert done.returncode == 255 and "[ERROR] Argument --output file is not a dir." in done.stdout


def test_both_filters_of_domains_are_one_too_many(machine) -> None:
    done = machine.run("msprof", "--mstx-domain-include=a", "--mstx-domain-exclude=b", "python3", machine.app())
    assert done.returncode == 255 and "can not be set together" in done.stdout


@pytest.mark.parametrize("chip", ["310P3", "910ProB"])
def test_l2cache_is_not_for_chips_without_it(machine, chip) -> None:
    done = machine.collect("--aic-metrics=L2Cache", FAKE_CANN_CHIP=chip)
    assert done.returncode == 255 and "Argument --aic-metrics L2Cache is invalid in this platform" in done.stdout


def test_without_words_it_prints_its_usage_and_255(machine) -> None:
    done = machine.run("msprof")
    assert done.returncode == 255 and done.stdout.startswith("Usage:")


def test_the_operator_profiler_is_missing_and_still_0(machine) -> None:
    done = machine.run("msprof", "op", "python3", "x.py")
    assert (done.returncode, done.stdout) == (0, "[ERROR] Cannot find msopprof\n")


def test_without_a_driver_it_is_255(machine) -> None:
    for environ in ({"FAKE_CANN_FAULT": "no_driver"}, {"FAKE_CANN_STATE": "/nonexistent"}):
        done = machine.collect(**environ)
        assert (done.returncode, done.stdout) == (255, "[ERROR] Init platform by driver faild!\n")


def test_a_second_collection_on_a_device_is_refused_while_one_runs(machine) -> None:
    with machine.start("msprof", "--output=out", "python3", machine.app(HANGS), "1") as first:
        assert first.stdout is not None
        while "up" not in first.stdout.readline():
            pass
        while not machine.profs:
            time.sleep(0.02)
        machine.app(LOG)
        done = machine.run("msprof", "--output=other", "python3", "app.py", "1")
        elsewhere = machine.run("msprof", "--output=third", "python3", "app.py", "1", APP_PHYSICAL="5")
        os.killpg(first.pid, signal.SIGKILL)
    assert done.returncode == 255 and NO_DATA in done.stdout
    assert "Prof channel[50] of device[4] is occupied, which may cause by multi-process" in done.stdout
    assert elsewhere.returncode == 0 and len(list((machine.folder / "third").glob("PROF_*"))) == 1
    assert machine.run("msprof", "--output=last", "python3", "app.py", "1").returncode == 0


def test_sigint_to_the_group_parses_what_is_there(machine) -> None:
    with machine.start("msprof", "--output=out", "python3", machine.app(HANGS), "3") as running:
        assert running.stdout is not None
        while "up" not in running.stdout.readline():
            pass
        os.killpg(running.pid, signal.SIGINT)
        said = running.stdout.read()
    assert running.returncode == 0 and WARNING.format("No such file or directory") in said
    assert len(machine.table("op_summary")) == 3


def test_sigint_to_msprof_alone_ends_the_app_after_a_second(machine) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + HANGS
    with machine.start(
        "msprof", "--output=out", "python3", machine.app(deaf), "1", FAKE_CANN_SIGINT_S="0.1"
    ) as running:
        assert running.stdout is not None
        while "up" not in running.stdout.readline():
            pass
        running.send_signal(signal.SIGINT)
        said = running.stdout.read()
    assert running.returncode == 0 and WARNING.format("Bad file descriptor") in said


def test_raw_data_of_a_killed_msprof_can_be_exported_later(machine) -> None:
    with machine.start("msprof", "--output=out", "python3", machine.app(HANGS), "3") as running:
        assert running.stdout is not None
        while "up" not in running.stdout.readline():
            pass
        while not list((machine.folder / "out").glob("PROF_*/device_0/data/*")):
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
    assert machine.files("op_summary") == []
    done = machine.run("msprof", "--export=on", f"--output={machine.profs[0]}")
    assert done.returncode == 0 and len(machine.table("op_summary")) == 3
    assert done.stdout == (
        f"[INFO] Start export data in {machine.profs[0].name}.\n"
        f"[INFO] Export all data in {machine.profs[0].name} done.\n"
    )


def test_start_and_export_cost_what_they_are_told_to(machine) -> None:
    begin = time.monotonic()
    machine.collect(FAKE_CANN_START_S="0.5", FAKE_CANN_EXPORT_S="0.6")
    assert time.monotonic() - begin > 1.1


def test_a_hang_after_the_app_ended_outlasts_sigint(machine) -> None:
    with machine.start(
        "msprof", "--output=out", "python3", machine.app(), "1", FAKE_CANN_FAULT="msprof_hangs"
    ) as running:
        while not machine.profs:
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(timeout=0.5)
        os.killpg(running.pid, signal.SIGKILL)
    assert machine.files("op_summary") == []


def test_a_milder_hang_ends_with_sigint(machine) -> None:
    words = ["msprof", "--output=out", "python3", machine.app(), "1"]
    with machine.start(*words, FAKE_CANN_FAULT="msprof_hangs:sigint") as running:
        while not machine.profs:
            time.sleep(0.02)
        time.sleep(0.2)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=30) == 0
    assert len(machine.table("op_summary")) == 1
