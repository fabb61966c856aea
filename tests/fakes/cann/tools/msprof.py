"""msprof: runs an application, keeps what it did on the device, exports it. Everything is said on standard output."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tools import application, prof
from tools import options as command
from tools.chips import cann
from tools.export import export, parse
from tools.faults import asked, faults, of_session
from tools.session import Session

FAILED = 255
NO_DATA = (
    "[ERROR] Failed to find profiling data, please check that the application executes AI-related business, or "
    "ensure that aclInit/GEInitialize is invoked in the application\n"
    "[ERROR] Running profiling failed. Please check log for more info."
)


def main(words: list) -> int:
    """The exit status, which says little: 0 also for an application that died."""
    sys.stdout.reconfigure(line_buffering=True)
    os.umask(0o027)
    if not words:
        print(command.USAGE)
        return FAILED
    if words[0] == "op":
        # The wrapper around the operator profiler drops its status.
        print("[ERROR] Cannot find msopprof")
        return 0
    try:
        return _obey(words)
    except command.Refused as refusal:
        print(refusal)
        return FAILED


def _obey(words: list) -> int:
    options, app = command.parse(words)
    if "no_driver" in faults() or not os.path.isdir(os.environ.get("FAKE_CANN_STATE", "")):
        print("[ERROR] Init platform by driver faild!")
        return FAILED
    full = command.examined(options)
    verbs = [verb for verb in ("export", "parse", "query") if options.get(verb) == "on"]
    if verbs:
        return _offline(options, verbs)
    if not app:
        print(command.USAGE)
        return FAILED
    application.check(app)
    return _collect(full, app, command.folder(options, app))


def _offline(options: dict, verbs: list) -> int:
    """Work on folders that are there: one PROF, or everything in a folder."""
    path = Path(options.get("output", ""))
    if "output" not in options or not path.is_dir():
        raise command.Refused("[ERROR] Argument --output %s is not a dir." % options.get("output", ""))
    chosen = {name: options[name] for name in ("type", "clear", "summary-format") if name in options}
    for folder in [path] if path.name.startswith("PROF_") else sorted(path.glob("PROF_*")):
        for verb in verbs:
            print("[INFO] Start %s data in %s." % (verb, _stopped(folder.name)))
            if verb == "query":
                print(prof.query(folder))
            elif not (export(folder, chosen) if verb == "export" else parse(folder, chosen)):
                continue
            print("[INFO] %s all data in %s done." % (verb.capitalize(), _stopped(folder.name)))
    return 0


def _collect(options: dict, app: list, folder: Path) -> int:
    interrupts: list = []
    signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    print("[INFO] Start profiling....")
    time.sleep(float(os.environ.get("FAKE_CANN_START_S", "0")))
    state = os.environ["FAKE_CANN_STATE"]
    session = Session(Path(state), folder, dict(options, faults=of_session(state)))
    running = application.start(app, options, {"folder": str(folder), "id": session.id})
    # From here on: the application got the variable as it was.
    os.environ["FAKE_CANN_FAULT"] = session.options["faults"]
    code = application.wait(running, session.look, lambda: bool(interrupts))
    session.look()
    _hang(interrupts)
    if code:
        print(application.farewell(code))
    session.close()
    if not session.profs:
        print(NO_DATA)
        return FAILED
    for made in list(session.profs.values()) + _strangers(session):
        _finish(made)
    print("[INFO] Profiling finished.")
    for made in session.profs.values():
        print("[INFO] Process profiling data complete. Data is saved in %s" % _stopped(str(made)))
    return 0


def _finish(made: Path) -> None:
    """Export, then the table, of one process; a step that fails leaves the exit status as it is."""
    if "disk_full" in faults():
        prof.empty(made)
        print("[ERROR] Failed to write profiling data in %s: No space left on device." % made)
    print("[INFO] Start export data in %s." % _stopped(made.name))
    if export(made, {}):
        print("[INFO] Export all data in %s done." % _stopped(made.name))
    print("[INFO] Start query data in %s." % _stopped(made.name))
    print(prof.query(made))
    print("[INFO] Query all data in %s done." % _stopped(made.name))


def _hang(interrupts: list) -> None:
    """Never come back, although the application is gone; with the argument `sigint` until somebody interrupts."""
    if "msprof_hangs" not in faults():
        return
    while not (interrupts and faults()["msprof_hangs"] == "sigint"):
        time.sleep(0.05)


def _strangers(session: Session) -> list:
    """PROF folders of a process that nobody asked about, with the oldest kernels of the first one."""
    made = []
    for number in range(1 if "extra_prof" in faults() else 0):
        pid = asked("extra_prof", 4242)
        first, folder = next(iter(session.profs.items()))
        log = session.state / ("device-%d.jsonl" % first)
        process = {"pid": pid, "device": int(next(folder.glob("device_*")).name.partition("_")[2])}
        other = prof.make(session.folder, len(session.profs) + 1 + number, process, session.options)
        lines = log.read_bytes().split(b"\n")[:6]
        (other / ("device_%d/data/stars.jsonl" % process["device"])).write_bytes(b"\n".join(lines) + b"\n")
        made.append(other)
    return made


def _stopped(text: str) -> str:
    """Newer releases put a full stop behind names of folders."""
    return text + "." if cann() >= (9,) else text
