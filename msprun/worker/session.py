"""The answers to a parent's requests: all knowledge of cases, sides and models meets here."""

import gc
import os
import platform
import sys
from functools import partial

import torch

from . import case as cases
from . import storage
from .attack import Attack, recheck
from .binding import bind
from .breakdown import break_down, summary, vary
from .cache import POLICIES, llc_bytes
from .calling import call_once, time_blocks
from .check import Check
from .collector import COLLECTORS
from .construct import build, copy_weights, init_forms, prepare, weights_of
from .contents import shrink
from .device import KINDS
from .failures import Refusal, StageError, at, message
from .folder import Folders
from .golden import Kept
from .grad import Differentiated, leaves_of
from .guard import Mark
from .leaves import size_bytes
from .libraries import same_libraries
from .parting import let_go
from .poison import poison, scrub
from .provider import Provider, find_provider
from .seeding import seed_everything
from .trial import attempt
from .walk import bytes_of
from .watch import REFERENCE, Watch

# Calls of a breakdown. A busy machine interrupts later calls more often, so none is always the last one.
LOOKS = (("first", "again", "fresh"), ("first", "fresh", "first", "again"))
NO_PROVIDER = "model.py has neither get_input_groups nor get_inputs, and no cases file describes the inputs"


class Session:
    """Serves one job. Every method answers a dict, or raises StageError."""

    def __init__(self, job):
        self.job = job
        self.seed = job.seed
        self.host = KINDS[job.device](job)
        self.device = self.host.torch
        self.cases = {}
        self.goldens = {}
        self.made = None
        self.others = {}
        torch.set_num_threads(job.threads)
        self.collector = COLLECTORS[job.collector](self.host)
        self.cache = POLICIES[job.cache](job.cache_bytes or llc_bytes(), self.collector.borders)
        self.folders = Folders(job.folders)
        self.watch = Watch(Mark(job.mark), self.folders)

    def environment(self):
        """Where this worker runs."""
        return {
            "python": platform.python_version(),
            "executable": sys.executable,
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "platform": "-".join(os.uname()[::2]),  # platform.platform() would start a process
            "libc": " ".join(platform.libc_ver()),
            "pid": os.getpid(),
            "device": str(self.device),
            "cache": self.job.cache,
            "llc_bytes": self.cache.llc_bytes,
            **self.collector.environment(),
            **self.host.environment(),
        }

    def describe(self):
        """The provider's groups as cases."""
        provider = self.provider()
        if provider is None:
            with at("inputs", "reference"):
                raise Refusal(NO_PROVIDER.replace("model.py", self.job.files["reference"].name))
        with at("inputs", "reference"), self.watch.running("reference"):
            groups = provider.groups()
            return {
                "cases": [dict(cases.group_labels(group), name="case%d" % n) for n, group in enumerate(groups)],
                "notes": [],
            }

    def load(self, index):
        """Make the inputs of a case."""
        descriptors = self.job.cases.get(index)
        with at("inputs"):
            case, notes = self.make_case(index, descriptors)
            case = case.with_gradients(self.seed) if self.job.grad else case
        self.cases[index] = case
        return dict(case.labels(), inputs_from=case.source, notes=notes)

    def make_case(self, index, descriptors):
        """The case and notes: from the provider, and where that fails from the descriptors."""
        notes = []
        try:
            provider = self.provider()
            if provider is not None:
                with at("inputs", "reference"), self.watch.running("reference"):
                    group = provider.group(index)
                return cases.provided(index, group, self.device), notes
        except StageError as error:
            if descriptors is None:
                raise
            words = message(error.error, self.job.operator)
            notes.append({"code": "provider_failed", "figures": {"error": words}})
        if descriptors is None:
            raise Refusal(NO_PROVIDER.replace("model.py", self.job.files["reference"].name))
        return cases.described(index, descriptors, self.seed, self.device), notes

    def provider(self):
        """The provider of the reference's file, None where it has none. Raises StageError when the import fails."""
        if self.made is None:
            module = self.module("reference")
            name = find_provider(module)
            self.made = Provider(module, name, self.seed) if name else None
        return self.made

    def other_provider(self, seed):
        """The provider as it is with another seed."""
        if seed not in self.others:
            self.others = {seed: Provider(self.module(REFERENCE), self.made.name, seed)}
        return self.others[seed]

    def module(self, side):
        """A side's module, from its own folder."""
        folder, file = self.folders.of(side), self.job.files[side]
        if folder.has(file):
            return folder.module(file, side)
        with self.watch.running(side):
            module = folder.module(file, side)
        if side == REFERENCE:
            self.watch.reference.add_module(module)
        return module

    def function(self, place):
        """A function of the operator's, named `file.py:function`."""
        with self.watch.marked(REFERENCE):
            return self.folders.of(REFERENCE).function(place)

    def construct(self, index, side):
        """Build a side's model and choose the form of its call."""
        case = self.case(index, "construct")
        if case.is_parted:
            self.empty(case)
        self.module(side)
        cls = self.folders.of(side).cls(self.job.files[side], self.job.classes[side], side)
        with at("construct", side):
            with self.watch.running(side):
                forms = init_forms(self.init_inputs(side), index, self.case_count())
                model, seconds = build(cls, forms, self.seed, self.device)
                given = case.weights
                if given is None and side != REFERENCE and REFERENCE in case.sides:
                    given = weights_of(case.sides[REFERENCE].model)
                notes = copy_weights(given, model)
            prepare_us = self.join(case, side, model)
        return {"construct_s": seconds, "prepare_us": prepare_us, "notes": notes}

    def part(self, index):
        """From now on have one side of a case at a time: no two fit into memory together."""
        case = self.case(index, "construct")
        case.bring = partial(self.bring, case)
        self.empty(case)
        return {}

    def empty(self, case):
        """Let go of all sides of a case."""
        with at("construct"), self.watch.marked(REFERENCE):
            self.watch.reference.models.pop(case.index, None)
            let_go(case, self.host)

    def bring(self, case, side):
        """Make a side again that was let go; what is known of it stays known."""
        told = case.sides[side]
        self.construct(case.index, side)
        told.fill(case.sides[side])
        case.sides[side] = told

    def join(self, case, side, model):
        """Have a model take its place in a case; the microseconds in which `prepare` made it ready, or None."""
        call = bind(model, case.arguments)

        def ready():
            with case.holding():
                return prepare(self.watch.running(side), model, call)

        prepare_us = ready() if callable(getattr(model, "prepare", None)) else None
        made = call
        if self.job.grad:
            function = Differentiated(call.function, model, (call.args, call.kwargs), case.cotangents)
            made = call._replace(function=function)
        case.sides[side] = cases.Side(model, made, None if prepare_us is None else ready)
        if side == REFERENCE:
            self.watch.reference.models[case.index] = model
        return prepare_us

    def init_inputs(self, side):
        """The constructor arguments: of the side's own file, else of the reference's, else None."""
        for owner in (side, "reference"):
            try:
                function = getattr(self.module(owner), "get_init_inputs", None)
            except StageError:
                continue
            if function is not None:
                seed_everything(self.seed)
                return function()
        return None

    def case_count(self):
        """How many cases the operator has."""
        return self.made.count if self.made is not None and self.made.count else self.job.total

    def first(self, index, side):
        """The first call of a side: its time, its outputs, what it does to its inputs."""
        case = self.case(index, "first_call")
        with at("first_call", side):
            one = case.side(side)
            case.take_snapshot()
            if side != REFERENCE:
                poison(case.sizes, self.device)
            try:
                output, one.first_us = call_once(self.watch.running(side), one.call, self.seed, self.host)
                answer = {"first_us": one.first_us, "output_bytes": bytes_of(output)}
                leaves = leaves_of(output) if self.job.compares else None
            finally:
                one.changed = case.settle()
            if side == REFERENCE:
                answer["hash"] = self.store(case, leaves)
                case.sizes = [size for size in map(size_bytes, leaves or ()) if size]
            else:
                one.outputs = leaves
        if side == "against":
            self.look_at_libraries()
        return answer

    def look_at_libraries(self):
        """Note libraries of the candidate's folder and of the older build's that are the same, byte for byte."""
        pairs = same_libraries(self.job.folders["candidate"], self.job.folders["against"])
        if pairs:
            self.watch.tell("same_library", {"candidate": pairs[0][0], "against": pairs[0][1]})

    def store(self, case, leaves):
        """Put the reference's outputs and the inputs that it changed into a file; the hash, None without a check."""
        if leaves is None:
            return None
        after = [leaf for leaves_of_one in case.sides[REFERENCE].changed.values() for leaf in leaves_of_one]
        digest = storage.store(leaves + after, self.outputs_file(case.index))
        scrub([leaf.tensor for leaf in leaves if leaf.tensor is not None])
        return digest

    def golden(self, index):
        """Where a case's golden outputs are kept."""
        if index not in self.goldens:
            self.goldens[index] = Kept(self.outputs_file(index).with_suffix(".golden"))
        return self.goldens[index]

    def outputs_file(self, index):
        return self.job.folder / "outputs" / ("case%d" % index)

    def check(self, index, side, rule, digest):
        """Compare a side's outputs under a rule (the job's where none is given)."""
        case = self.case(index, "check")
        with at("check"):
            verdict = Check(self, case, side, rule or self.job.check).verdict(digest)
        return told(verdict, [])

    def attack(self, index, side, rule, digest):
        """Compare again with changed contents in the same buffers."""
        case = self.case(index, "check")
        with at("check"):
            attack = Attack(self, case, side, rule or self.job.check)
            return told(attack.run(digest), attack.notes)

    def recheck(self, index, side, rule, digest):
        """Compare one more call on the first inputs."""
        case = self.case(index, "check")
        with at("check"), case.holding():
            check = Check(self, case, side, rule or self.job.check)
            with at("check", side):
                mine = attempt(self, case, side, self.seed)
            return told(recheck(check, mine, digest), [])

    def cache_facts(self, index):
        """What the cache policy does to a case."""
        return self.cache.facts(self.case(index, "timing"))

    def time(self, index, blocks):
        """Nanoseconds of each block [side, calls], and what a profiler must know of them."""
        case = self.case(index, "timing")
        with at("timing"):
            elapsed = time_blocks(self.watch, case, blocks, self.cache)
            return {"elapsed_ns": elapsed, "recorded": self.collector.borders.take()}

    def boost(self, index):
        """Raise the device's clock before a visit of a case."""
        with at("timing"):
            self.collector.borders.begin((index, None, "boost"))
            self.collector.borders.between("boost", self.host.boost)
            return {"recorded": self.collector.borders.take()}

    def collect(self, word):
        """Begin or end the collection that this process makes by itself."""
        with at("launch" if word == "begin" else "accounting"):
            return self.collector.begin(self.job.folder) if word == "begin" else self.collector.end()

    def breakdown(self, index, side):
        """The torch operators of a repeated call, and whether one with unseen contents runs the same ones.

        One call where outputs are not judged either: whoever checks nothing has no time for that.
        """
        case = self.case(index, "breakdown")
        one = case.side(side)
        calls, is_fresh = {}, False
        with at("breakdown", side), case.holding(), self.watch.running(side):
            for name in LOOKS[one.looks % 2] if self.job.doubts else ("again",):
                is_fresh = shrink(case, one.looks) if name == "fresh" else is_fresh
                calls[name] = break_down(self.watch.marked(side), one.call)
                case.snapshot.restore()
        one.looks += 1
        varies = vary([events for events, _ in calls.values()])
        fresh_us = calls["fresh"][1] / 1000 if is_fresh else None
        return dict(summary(*calls["again"]), kernels_vary=varies, fresh_us=fresh_us)

    def probe(self):
        """Does this process still compute rightly? 1 + 4 + 9 + ... + 64 = 204."""
        with at("accounting"):
            numbers = torch.arange(1.0, 9.0, device=self.device)
            found = (numbers.reshape(1, 8) @ numbers.reshape(8, 1)).item()
            if found != 204.0:
                raise Refusal("the probe gave %r, not 204" % found)
        return {}

    def release(self, index):
        """Forget a case's tensors, models and stored outputs."""
        self.cases.pop(index, None)
        self.watch.reference.models.pop(index, None)
        gc.collect()
        for path in (self.outputs_file(index), self.golden(index).path):
            if path.exists():
                path.unlink()
        self.goldens.pop(index)
        return {}

    def case(self, index, stage):
        """A loaded case."""
        if index not in self.cases:
            with at(stage):
                raise Refusal("case %s is not loaded" % index)
        return self.cases[index]


def told(verdict, notes):
    """A Verdict as an answer."""
    return {"state": verdict.state, "rule": verdict.rule, "figures": verdict.figures, "notes": notes}
