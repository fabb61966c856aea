"""The beginning: read the job, speak with the parent that listens, or run alone when nobody does."""

import os
import socket
import sys

from . import guard, protocol
from .channel import Channel
from .failures import StageError, at, failure
from .job import read_job


def run(path):
    """Serve the job in a file; without a parent at its socket, run it once and print a line a case."""
    parent = os.environ.get("MSPRUN_PARENT")
    if parent is not None:
        guard.die_with_parent(int(parent))
    job = read_job(path)
    guard.tell_where()
    connection = connect(job.socket)
    if connection is None and parent is None:
        from . import alone

        return alone.run(job)
    if connection is None:
        sys.exit("the parent does not listen at %s" % job.socket)
    guard.hear_interrupts()
    guard.divert_stdout()
    speak(connection, job)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that an operator left behind must not keep the process


def connect(path):
    """A connection to the parent, or None when nobody listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def speak(connection, job):
    """Serve until the parent has enough; an interpreter without a working torch says so."""
    channel = Channel(connection, job)
    try:
        with at("launch"):
            from .serve import serve
    except StageError as error:
        channel.say(0, {"ok": False, "failure": failure(error, job.operator)})
        return
    try:
        serve(channel, job)
    except protocol.ChannelError as error:
        print("the channel broke: %s" % error, file=sys.stderr)
    except OSError as error:
        print("the parent is gone: %s" % error, file=sys.stderr)
