"""A worker in waiting: imports torch while its session is still being planned, then runs that session's wrapper."""

import ctypes
import json
import os
import runpy
import signal
import socket
import sys


def main():
    """Wait for a line [wrapper, stdout, stderr, variables]; without one nobody needs this process."""
    sys.path.pop(0)  # the folder of this file: what runs here is the session's own copy
    die_with_parent(int(os.environ["MSPRUN_PARENT"]))
    try:
        import torch  # noqa: F401
    except BaseException:
        return  # a process of the session's own will fail in the same way, and log why
    line = told()
    if not line:
        return
    wrapper, stdout, stderr, variables = json.loads(line)
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    become(stdout, 1, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    become(stderr, 2, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    become(os.devnull, 0, os.O_RDONLY)
    sys.argv = [wrapper]
    runpy.run_path(wrapper, run_name="__main__")


def told():
    """The line that comes through the socket which is standard input; open files that come with it stay open."""
    line = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=os.dup(0)) as parent:
        while not line.endswith(b"\n"):
            part = parent.recvmsg(1 << 16, socket.CMSG_SPACE(64))[0]
            if not part:
                return b""
            line += part
    return line


def die_with_parent(parent):
    """As guard.die_with_parent, which cannot be imported here: the package around it is the session's copy."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def become(path, descriptor, flags):
    """Open a file as this descriptor."""
    handle = os.open(path, flags, 0o666)
    os.dup2(handle, descriptor)
    os.close(handle)


if __name__ == "__main__":
    main()
