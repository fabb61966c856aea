"""The state of one case: stored reference outputs against another side's."""

from . import mask, storage
from .binding import Call
from .calling import call_once
from .compare import Verdict, judge
from .failures import Refusal, at
from .golden import Golden
from .grad import Differentiated, leaves_of, wants_gradient
from .leaves import flatten, rebuild
from .walk import tensors_in

NAMES_SHOWN = 20


class Check:
    """Compares one side of a case with its reference under a rule; `session` lends its watch, its seed, its folder."""

    def __init__(self, session, case, side, rule):
        self.session = session
        self.case = case
        self.name = side
        self.rule = rule
        self.reference = case.known("reference")
        self.side = case.known(side)
        self.expected = ()
        self.digest = None

    def verdict(self, digest):
        """The Verdict on the first call; `digest` is the hash that the parent was told of the stored outputs."""
        if self.side.outputs is None or self.reference.first_us is None:
            raise Refusal("both sides must have been called before they are compared")
        return self.against_stored(self.side.outputs, self.side.changed, digest)

    def against_stored(self, outputs, changed, digest):
        """The Verdict on the outputs of a call on the first inputs."""
        try:
            stored, found = storage.restore(self.session.outputs_file(self.case.index))
        except (OSError, ValueError) as error:
            return Verdict("incorrect", "hash", {"reference_tampered": True, "reason": str(error)})
        if digest is not None and digest != found:
            return Verdict("incorrect", "hash", {"reference_tampered": True})
        return self.between(stored, (outputs, changed), self.reference.changed, self.session.seed, found)

    def between(self, stored, other, expected, seed, digest=None):
        """The Verdict on `other`, (outputs, changed inputs), of a call like that which gave `stored`.

        `stored` ends with the inputs that the reference changes; `expected` are their positions, `digest` the hash of
        what is stored, None for outputs that are compared but once.
        """
        outputs, changed = other
        self.expected, self.digest = expected, digest
        verdict = self.judge(stored, outputs + self.inputs_after(expected, changed))
        touched = [self.case.tensors[place][0] for place in sorted(set(changed) - set(expected))[:NAMES_SHOWN]]
        if touched:
            figures = dict(verdict.figures, input_changed=touched)
            state = "input_changed" if verdict.state == "correct" else verdict.state
            verdict = verdict._replace(state=state, figures=figures)
        if verdict.state in ("correct", "input_changed"):
            return verdict
        return self.doubt(stored, verdict, expected, seed)

    def inputs_after(self, places, changed):
        """Leaves of those inputs after a call that changed `changed`."""
        leaves = []
        for place in places:
            path, tensor = self.case.tensors[place]
            leaves.extend(changed[place] if place in changed else flatten(tensor, path))
        return leaves

    def judge(self, reference, other):
        """The Verdict of the rule, or of the operator's own function."""
        if self.rule.get("compare"):
            return self.own_verdict(reference, other)
        hidden = None
        if self.rule.get("mask"):
            function = self.session.function(self.rule["mask"])
            sides = (reference, other)
            reference, other, hidden = mask.apply(function, self.rule["mask"], self.inputs(), sides)
        limits = (self.rule["budget_s"], self.reference.first_us)
        kept, digest = self.session.golden(self.case.index), self.digest
        model = self.case.side("reference").model
        golden = Golden(model, self.in_float64, reference, limits, lambda make: kept.leaves(digest, make))
        verdict = judge(reference, other, self.rule, golden)
        if hidden is None:
            return verdict
        return verdict._replace(figures=dict(verdict.figures, masked=hidden))

    def inputs(self):
        """The arguments as the operator's own functions get them."""
        return self.case.arguments.keywords or self.case.arguments.positional

    def own_verdict(self, reference, other):
        """The Verdict of `compare(reference_outputs, candidate_outputs, inputs)`: a bool, or {"ok": bool, figures}."""
        function = self.session.function(self.rule["compare"])
        answer = function(rebuild(reference), rebuild(other), self.inputs())
        figures = dict(answer) if isinstance(answer, dict) else {"ok": bool(answer)}
        if "ok" not in figures:
            raise Refusal("%s must return a bool or a dict with ok" % self.rule["compare"])
        passed = bool(figures.pop("ok"))
        return Verdict("correct" if passed else "incorrect", self.rule["compare"], figures)

    def in_float64(self, model, change):
        """Leaves of a call of a copy of the reference on changed arguments."""
        call = self.reference.call
        args, kwargs = change(call.args), change(call.kwargs)
        function = model if callable(model) else model.forward
        if isinstance(call.function, Differentiated):
            args, kwargs = wants_gradient(args), wants_gradient(kwargs)
            function = call.function.on(args, kwargs, model)
        running = self.session.watch.marked("reference")  # more threads than usual may run here
        output, _ = call_once(running, Call(function, args, kwargs), self.session.seed, self.session.host)
        leaves = leaves_of(output)
        inputs = tensors_in([args, kwargs], "")  # in the order of the case's own tensors, whatever the call's form
        for place in self.expected:
            leaves.extend(flatten(inputs[place][1], self.case.tensors[place][0]))
        return leaves

    def again(self, seed):
        """Leaves of another call of the reference on the inputs as they are, and what it changed."""
        with at("check", "reference"):
            call = self.case.side("reference").call
            running = self.session.watch.marked("reference")
            output, _ = call_once(running, call, seed, self.session.host)
            return leaves_of(output), self.case.settle()

    def doubt(self, stored, verdict, expected, seed):
        """`nondeterministic` where the reference, called with other random numbers, differs from itself."""
        if self.judge(stored, stored).state != "correct":
            return verdict  # an operator's own function that judges more than differences
        try:
            outputs, changed = self.again(seed + 1)
        except Exception:
            self.case.settle()
            return verdict
        itself = self.judge(stored, outputs + self.inputs_after(expected, changed))
        if itself.state == "correct":
            return verdict
        figures = dict(itself.figures, candidate=verdict.figures)
        return Verdict("nondeterministic", itself.rule, figures)
