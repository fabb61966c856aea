"""A worker that keeps the protocol except for the one fault named on its command line: JOB FAULT."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

job = json.load(open(sys.argv[1]))
fault = sys.argv[2]
if fault == "exits_at_once":
    sys.exit("ModuleNotFoundError: No module named 'torch'")
if fault == "never_connects":
    time.sleep(600)
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell's `&` had it ignored
connection = socket.socket(socket.AF_UNIX)
connection.connect(job["socket"])


def send(number, **words):
    connection.sendall(json.dumps({"nonce": job["nonce"], "id": number, "ok": True, **words}).encode() + b"\n")


def write_stack(*_):
    print('Thread 0x1:\n  File "/op/model.py", line 12 in forward', file=sys.stderr)


send(0, environment={"torch": "fake"})
for line in connection.makefile():
    asked = json.loads(line)
    if asked["do"] == "bye":
        break
    if asked["do"] == "echo":
        send(asked["id"], heard=asked["word"])
    elif fault == "garbage":
        connection.sendall(b"Segmentation fault, or so\n")
    elif fault == "wrong_nonce":
        connection.sendall(b'{"nonce": "0", "id": 1, "ok": true}\n')
    elif fault == "old_answer":
        send(asked["id"] - 1)
    elif fault == "fails":
        failure = {"stage": "timing", "kind": "exception", "message": "ValueError: no", "side": "candidate"}
        send(asked["id"], **{"ok": False, "failure": failure})
    elif fault == "hangs":
        open(job["mark"], "r+b").write(b"c")
        signal.signal(signal.SIGUSR1, write_stack)
        while True:
            time.sleep(0.05)
    elif fault in ("is_slow", "is_deaf", "dies_of_an_interrupt"):
        try:
            if fault == "is_deaf":
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            open(job["folder"] + "/begun", "w").close()
            time.sleep(600)
        except KeyboardInterrupt:
            if fault == "dies_of_an_interrupt":
                sys.exit(3)
            failure = {"stage": "timing", "kind": "exception", "message": "KeyboardInterrupt"}
            send(asked["id"], **{"ok": False, "failure": failure, "abandoned": [7]})
    elif fault == "dies_and_leaves_a_child":
        open(job["mark"], "r+b").write(b"r")
        os.set_inheritable(connection.fileno(), True)
        child = subprocess.Popen(["sleep", "600"], close_fds=False)
        print(child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "dies_in_the_older_build":
        open(job["mark"], "r+b").write(b"a")
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "floods_its_log":
        for _ in range(64):
            print("x" * 65536, flush=True)
        send(asked["id"])
