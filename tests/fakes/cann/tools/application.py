"""The program that is profiled: which may be, how it is started, how its end is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tools.options import Refused

INTERPRETERS = ("bash", "sh")


def check(words: list) -> None:
    """Refused for a program that msprof does not start. Interpreters may be links, as python usually is."""
    program = words[0]
    name = os.path.basename(program)
    if name == "pmupload":
        raise Refused("[ERROR] App path(%s) is invalid, pmupload is forbidden." % program)
    if name in INTERPRETERS or name.startswith("python"):
        if len(words) < 2:
            raise Refused("[ERROR] Argument app: an interpreter (python/bash/sh) requires a script or module argument.")
        return
    path = Path(program)
    if path.is_symlink():
        raise Refused("[ERROR] App path(%s) is soft link, which is not support!" % program)
    if not path.is_file():
        raise Refused("[ERROR] App path(%s) does not exist or permission denied." % program)
    if not os.access(path, os.X_OK):
        raise Refused("[ERROR] App path(%s) has no executable permission!" % program)


def start(words: list, options: dict, session: dict) -> object:
    """The running program; an interpreter that is not on PATH ends with 127 as in a shell."""
    environ = dict(os.environ, **_environment(options.get("environment", "")))
    environ["FAKE_CANN_COLLECT"] = session["folder"]
    environ["FAKE_CANN_SESSION"] = session["id"]
    environ["FAKE_CANN_PMU"] = options["group"] or "off"
    environ["PROFILER_SAMPLECONFIG"] = json.dumps({"result_dir": session["folder"], "jobInfo": session["id"]})
    environ.pop("FAKE_CANN_MSTX", None)
    if options["msproftx"] == "on":
        environ["FAKE_CANN_MSTX"] = "1"
    found = shutil.which(words[0], path=environ.get("PATH"))
    command = [found or words[0]] + words[1:]
    if not found and not os.path.exists(words[0]):
        command = [sys.executable, "-S", "-c", "raise SystemExit(127)"]
    sys.stdout.flush()
    return subprocess.Popen(command, env=environ)


def _environment(text: str) -> dict:
    return dict(pair.strip().partition("=")[::2] for pair in text.split(";") if "=" in pair)


def wait(running: object, turn: object, quit_asked: object) -> int:
    """The program's end as Popen tells it; `turn` is called meanwhile.

    Who is asked to quit gives the program a second, in case it was asked too, then interrupts it, then kills it.
    """
    grace = float(os.environ.get("FAKE_CANN_SIGINT_S", "1"))
    since, sent = None, 0
    while True:
        try:
            return running.wait(timeout=0.03)
        except subprocess.TimeoutExpired:
            turn()
        if not quit_asked():
            continue
        since = since or time.monotonic()
        if time.monotonic() - since > grace * (sent + 1) and sent < 2:
            running.send_signal((signal.SIGINT, signal.SIGKILL)[sent])
            sent += 1


def farewell(code: int) -> str:
    """The warning for a program that did not end well: strerror of its exit status, or of the signal's number."""
    return "[WARNING] An exception has occurred in process App, return code: %s." % os.strerror(abs(code))
