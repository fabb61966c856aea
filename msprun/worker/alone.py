"""A job run by hand: one plain line a case, and on after every failure."""

import statistics

from .failures import StageError, message
from .session import Session

WARMUP = 5
REPEATS = 20


def run(job):
    """Run every case of a job once and print what came of it."""
    session = Session(job)
    for index in all_cases(session):
        try:
            print(line(session, index), flush=True)
        except StageError as error:
            if isinstance(error.error, KeyboardInterrupt):
                raise error.error from None
            print("case %d: %s" % (index, complaint(error, job)), flush=True)
        session.release(index)


def all_cases(session):
    """The job's cases, or those that the provider has."""
    if session.job.cases:
        return list(session.job.cases)
    try:
        return range(len(session.describe()["cases"]))
    except StageError as error:
        print(complaint(error, session.job))
        return []


def line(session, index):
    """Load, construct, call, check and time one case: its line."""
    loaded = session.load(index)
    words, digests, sound = [], {}, []
    for side in session.job.sides:
        try:
            session.construct(index, side)
            digests[side] = session.first(index, side).get("hash")
            sound.append(side)
        except StageError as error:
            if isinstance(error.error, KeyboardInterrupt):
                raise
            words.append(complaint(error, session.job))
    state = "not_checked"
    if session.job.compares and {"reference", "candidate"} <= set(sound):
        state = session.check(index, "candidate", None, digests["reference"])["state"]
    for side in sound:
        words.append("%s %.2f us" % (side, median_us(session, index, side)))
    head = "case %d %s %s" % (index, loaded["shape"], loaded["dtype"])
    return "%s: %s, %s" % (head, ", ".join(words), state)


def median_us(session, index, side):
    """The median of single calls after a warm-up."""
    job = session.job
    warmup = WARMUP if job.warmup is None else job.warmup
    repeats = REPEATS if job.repeats is None else max(job.repeats, 1)
    elapsed = session.time(index, [[side, 1]] * (warmup + repeats))["elapsed_ns"]
    return statistics.median(elapsed[warmup:]) / 1000


def complaint(error, job):
    """A failure in words."""
    who = "%s " % error.side if error.side else ""
    return "%sfailed at %s: %s" % (who, error.stage, message(error.error, job.operator))
