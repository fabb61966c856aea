"""One request in, one answer out, whatever happens in between."""

import gc

from .failures import Refusal, StageError, at, failure
from .session import Session

ANSWERS = {
    "describe": lambda session, request: session.describe(),
    "load": lambda session, request: session.load(request["case"]),
    "construct": lambda session, request: session.construct(request["case"], request["side"]),
    "part": lambda session, request: session.part(request["case"]),
    "first": lambda session, request: session.first(request["case"], request["side"]),
    "check": lambda session, request: session.check(*checked(request)),
    "attack": lambda session, request: session.attack(*checked(request)),
    "recheck": lambda session, request: session.recheck(*checked(request)),
    "cache_facts": lambda session, request: session.cache_facts(request["case"]),
    "time": lambda session, request: session.time(request["case"], request["blocks"]),
    "boost": lambda session, request: session.boost(request["case"]),
    "collect": lambda session, request: session.collect(request["word"]),
    "breakdown": lambda session, request: session.breakdown(request["case"], request["side"]),
    "probe": lambda session, request: session.probe(),
    "release": lambda session, request: session.release(request["case"]),
}


def serve(channel, job):
    """Answer until the parent has enough."""
    try:
        with at("launch"):
            session = Session(job)
            greeting = {"ok": True, "environment": session.environment()}
    except StageError as error:
        channel.say(0, {"ok": False, "failure": failure(error, job.operator)})
        return
    gc.collect()
    gc.freeze()  # torch's own objects never die: later collections, one before each timing, need not look at them
    channel.say(0, greeting)
    for request in channel.requests():
        channel.say(request["id"], answer(session, request))


def checked(request):
    """What a request to compare names: case, side, rule, hash."""
    return request["case"], request.get("side") or "candidate", request.get("rule"), request.get("hash")


def answer(session, request):
    """The answer to one request, whatever happens, with the notes that came up."""
    try:
        with at("accounting", request.get("side")):
            if request["do"] not in ANSWERS:
                raise Refusal("no worker knows the request %r" % request["do"])
            made = dict(ANSWERS[request["do"]](session, request), ok=True)
    except StageError as error:
        told = failure(error, session.job.folders.get(error.side, session.job.operator))
        print(told["trace"], flush=True)
        made = {"ok": False, "failure": told}
        abandoned = session.collector.borders.abandon()
        if abandoned:
            made["abandoned"] = abandoned
    notes = session.watch.notes()
    return dict(made, notes=made.get("notes", []) + notes) if notes else made
