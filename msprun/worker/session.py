"""The answers to a parent's requests: all knowledge of cases, sides and models meets here."""

import gc
import os
import platform
import sys

import torch

from . import case as cases
from . import storage
from .binding import bind
from .breakdown import break_down
from .calling import call_once, time_blocks
from .check import Check
from .construct import build, copy_weights, init_forms
from .failures import Refusal, StageError, at, message
from .folder import Folder
from .guard import Mark
from .leaves import flatten
from .provider import Provider, find_provider
from .seeding import seed_everything
from .walk import bytes_of

NO_PROVIDER = "model.py has neither get_input_groups nor get_inputs, and no cases file describes the inputs"


class Session:
    """Serves one job. Every method answers a dict, or raises StageError."""

    def __init__(self, job):
        self.job = job
        self.seed = job.seed
        self.device = torch.device(job.device)
        self.folder = Folder(job.operator)
        self.mark = Mark(job.mark)
        self.cases = {}
        self.made = None
        torch.set_num_threads(job.threads)

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
        }

    def describe(self):
        """The provider's groups as cases."""
        provider = self.provider()
        if provider is None:
            with at("inputs", "reference"):
                raise Refusal(NO_PROVIDER.replace("model.py", self.job.files["reference"].name))
        with at("inputs", "reference"), self.mark.running("reference"):
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
        self.cases[index] = case
        return dict(case.labels(), inputs_from=case.source, notes=notes)

    def make_case(self, index, descriptors):
        """The case and notes: from the provider, and where that fails from the descriptors."""
        notes = []
        try:
            provider = self.provider()
            if provider is not None:
                with at("inputs", "reference"), self.mark.running("reference"):
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

    def module(self, side):
        with self.mark.running(side):
            return self.folder.module(self.job.files[side], side)

    def construct(self, index, side):
        """Build a side's model and choose the form of its call."""
        case = self.case(index, "construct")
        self.module(side)
        cls = self.folder.cls(self.job.files[side], self.job.classes[side], side)
        with at("construct", side), self.mark.running(side):
            forms = init_forms(self.init_inputs(side), index, self.case_count())
            model, seconds = build(cls, forms, self.seed, self.device)
            notes = []
            if side == "candidate" and "reference" in case.sides:
                notes = copy_weights(case.sides["reference"].model, model)
            case.sides[side] = cases.Side(model, bind(model, case.arguments))
        return {"construct_s": seconds, "notes": notes}

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
            try:
                output, one.first_us = call_once(self.mark, side, one.call, self.seed)
                answer = {"first_us": one.first_us, "output_bytes": bytes_of(output)}
                leaves = flatten(output) if self.job.compares else None
            finally:
                one.changed = case.settle()
            if side == "reference":
                answer["hash"] = self.store(case, leaves)
            else:
                one.outputs = leaves
        return answer

    def store(self, case, leaves):
        """Put the reference's outputs and the inputs that it changed into a file; the hash, None without a check."""
        if leaves is None:
            return None
        after = [leaf for leaves_of_one in case.sides["reference"].changed.values() for leaf in leaves_of_one]
        return storage.store(leaves + after, self.outputs_file(case.index))

    def outputs_file(self, index):
        return self.job.folder / "outputs" / ("case%d" % index)

    def check(self, index, rule, digest):
        """Compare a case's outputs under a rule (the job's where none is given)."""
        case = self.case(index, "check")
        with at("check"):
            verdict = Check(self, case, rule or self.job.check).verdict(digest)
        return {"state": verdict.state, "rule": verdict.rule, "figures": verdict.figures, "notes": []}

    def time(self, index, blocks):
        """Nanoseconds of each block [side, calls]."""
        case = self.case(index, "timing")
        with at("timing"):
            return {"elapsed_ns": time_blocks(self.mark, case, blocks)}

    def breakdown(self, index, side):
        """The torch operators of one call."""
        case = self.case(index, "breakdown")
        with at("breakdown", side):
            try:
                with self.mark.running(side):
                    return break_down(case.side(side).call)
            finally:
                case.restore()

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
        gc.collect()
        path = self.outputs_file(index)
        if path.exists():
            path.unlink()
        return {}

    def case(self, index, stage):
        """A loaded case."""
        if index not in self.cases:
            with at(stage):
                raise Refusal("case %s is not loaded" % index)
        return self.cases[index]
