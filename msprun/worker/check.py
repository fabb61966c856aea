"""The state of one case: stored reference outputs against the candidate's."""

from . import storage
from .binding import Call
from .calling import call_once
from .compare import Verdict, judge
from .failures import Refusal
from .golden import Golden
from .leaves import flatten, rebuild
from .walk import tensors_in

NAMES_SHOWN = 20


class Check:
    """Compares one case under a rule; `session` lends its mark, its seed and its folder."""

    def __init__(self, session, case, rule):
        self.session = session
        self.case = case
        self.rule = rule
        self.reference = case.side("reference")
        self.candidate = case.side("candidate")

    def verdict(self, digest):
        """The Verdict; `digest` is the hash that the parent was told when the reference outputs were stored."""
        if self.candidate.outputs is None or self.reference.first_us is None:
            raise Refusal("both sides must have been called before they are compared")
        try:
            stored, found = storage.restore(self.session.outputs_file(self.case.index))
        except (OSError, ValueError) as error:
            return Verdict("incorrect", "hash", {"reference_tampered": True, "reason": str(error)})
        if digest is not None and digest != found:
            return Verdict("incorrect", "hash", {"reference_tampered": True})
        verdict = self.judge(stored, self.candidate_leaves())
        touched = self.touched_alone()
        if touched:
            figures = dict(verdict.figures, input_changed=touched)
            state = "input_changed" if verdict.state == "correct" else verdict.state
            verdict = verdict._replace(state=state, figures=figures)
        if verdict.state in ("correct", "input_changed"):
            return verdict
        return self.doubt(stored, verdict)

    def candidate_leaves(self):
        """The candidate's outputs, and the inputs that the reference changes as the candidate left them."""
        return self.candidate.outputs + self.inputs_after(self.reference.changed, self.candidate.changed)

    def inputs_after(self, places, changed):
        """Leaves of those inputs after a call that changed `changed`."""
        leaves = []
        for place in places:
            path, tensor = self.case.tensors[place]
            leaves.extend(changed[place] if place in changed else flatten(tensor, path))
        return leaves

    def touched_alone(self):
        """Paths of the inputs that the candidate changes and the reference leaves alone."""
        places = sorted(set(self.candidate.changed) - set(self.reference.changed))
        return [self.case.tensors[place][0] for place in places[:NAMES_SHOWN]]

    def judge(self, reference, other):
        """The Verdict of the rule, or of the operator's own function."""
        if self.rule.get("compare"):
            return self.own_verdict(reference, other)
        limits = (self.rule["budget_s"], self.reference.first_us)
        return judge(reference, other, self.rule, Golden(self.reference.model, self.in_float64, reference, limits))

    def own_verdict(self, reference, other):
        """The Verdict of `compare(reference_outputs, candidate_outputs, inputs)`: a bool, or {"ok": bool, figures}."""
        function = self.session.folder.function(self.rule["compare"])
        arguments = self.case.arguments
        answer = function(rebuild(reference), rebuild(other), arguments.keywords or arguments.positional)
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
        output, _ = call_once(self.session.mark, "reference", Call(function, args, kwargs), self.session.seed)
        leaves = flatten(output)
        inputs = tensors_in([args, kwargs], "")  # in the order of the case's own tensors, whatever the call's form
        for place in self.reference.changed:
            leaves.extend(flatten(inputs[place][1], self.case.tensors[place][0]))
        return leaves

    def doubt(self, stored, verdict):
        """`nondeterministic` where the reference, called with other random numbers, differs from itself."""
        if self.judge(stored, stored).state != "correct":
            return verdict  # an operator's own function that judges more than differences
        try:
            output, _ = call_once(self.session.mark, "reference", self.reference.call, self.session.seed + 1)
            outputs = flatten(output)
            again = outputs + self.inputs_after(self.reference.changed, self.case.settle())
        except Exception:
            self.case.settle()
            return verdict
        itself = self.judge(stored, again)
        if itself.state == "correct":
            return verdict
        figures = dict(itself.figures, candidate=verdict.figures)
        return Verdict("nondeterministic", itself.rule, figures)
