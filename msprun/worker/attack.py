"""Right once is not right: the inputs' contents change under a side that was found correct, and calls are repeated."""

from .check import Check
from .compare import Verdict
from .contents import change
from .failures import at
from .layout import overlaps
from .trial import attempt, differ

NAMES_SHOWN = 20


class Attack:
    """Tries one side of a case. `run` leaves the inputs as they were.

    The side is always called before the reference, so that the outputs which are expected of it do not exist yet. Its
    output on the changed contents is kept over its call on the first.
    """

    def __init__(self, session, case, side, rule):
        self.session = session
        self.case = case
        self.name = side
        self.check = Check(session, case, side, rule)
        self.notes = []

    def run(self, digest):
        """The Verdict; `digest` is that of the stored outputs, None where the parent gives none."""
        with self.case.holding():
            verdict, kept = self.on_changed_contents()
            if verdict is None or verdict.state == "correct":
                later = self.on_first_contents(kept, digest)
                verdict = later if verdict is None or later.state != "correct" else verdict
        return verdict

    def on_changed_contents(self):
        """The Verdict on other contents in the same memory, and the Trial to be kept; two None without any."""
        sides = (self.check.side, self.check.reference)
        is_prepared = any(side.has_prepare for side in sides)
        if self.case.is_parted:  # it was made again, and has yet to see the contents that it may remember
            self.attempt(self.name, self.session.seed)
        how = change(self.session, self.case, 1, floats_only=is_prepared)
        if how is None:
            self.note("contents_not_changed", {})
            return None, None
        with self.case.holding():
            seed = self.session.seed + 2
            mine = self.attempt(self.name, seed)
            if self.check.reference.has_prepare:
                self.prepare("reference")
            verdict = self.compare(mine, seed, how)
            if verdict.state == "incorrect" and self.check.side.has_prepare:
                verdict = self.prepared(seed, how, verdict)
        self.case.snapshot.restore()
        if is_prepared:
            for side in ("reference", self.name):
                self.prepare(side)
        return verdict, None if self.case.is_parted else mine

    def compare(self, mine, seed, how):
        """The Verdict on a call with other contents, against a call of the reference."""
        theirs = self.attempt("reference", seed)
        self.look_at_inputs(mine, theirs)
        stored = theirs.leaves + self.check.inputs_after(theirs.changed, theirs.changed)
        verdict = self.check.between(stored, (mine.leaves, mine.changed), theirs.changed, seed)
        figures = dict(verdict.figures, on="changed_contents", contents=how)
        if mine.is_late:
            return Verdict("incorrect", verdict.rule, dict(figures, on="late_write"))
        outputs = self.check.side.outputs
        if verdict.state == "incorrect" and outputs is not None and not differ(outputs, mine.leaves):
            figures["old_output"] = True
        return verdict._replace(figures=figures)

    def prepared(self, seed, how, verdict):
        """The Verdict once the side was made ready for the new contents: `prepare` saw what the time leaves out."""
        self.prepare(self.name)
        again = self.compare(self.attempt(self.name, seed), seed, how)
        if again.state != "correct":
            return verdict
        self.note("prepared_contents", {})
        return again

    def on_first_contents(self, kept, digest):
        """The Verdict on one more call with the first inputs, then on one of the reference."""
        mine = self.attempt(self.name, self.session.seed)
        if kept is not None:
            self.look_at_kept(kept, mine)
        return recheck(self.check, mine, digest)

    def attempt(self, side, seed):
        with at("check", side):
            return attempt(self.session, self.case, side, seed)

    def prepare(self, side):
        """Have a side made ready for the contents that the inputs have now, if it can be."""
        if self.case.known(side).has_prepare:
            with at("check", side):
                self.case.side(side).prepare()

    def look_at_inputs(self, mine, theirs):
        """Note inputs whose memory is in the output, where the reference's output has its own."""
        places = sorted(mine.shared - theirs.shared)
        if places:
            self.note("output_is_input", {"inputs": [self.case.tensors[place][0] for place in places[:NAMES_SHOWN]]})

    def look_at_kept(self, kept, mine):
        """Note an output of the call before that the next call has overwritten, or whose memory it returns again."""
        inputs = [tensor for _, tensor in self.case.tensors]
        own = [pair for pair in kept.tensors if not any(overlaps(pair[1], tensor) for tensor in inputs)]
        shared = [path for path, tensor in own if any(overlaps(tensor, other) for _, other in mine.tensors)]
        is_changed = len(own) == len(kept.tensors) and kept.content_changed()
        if shared or is_changed:
            figures = {"outputs": shared[:NAMES_SHOWN], "content_changed": is_changed}
            self.note("outputs_share_memory", figures)

    def note(self, code, figures):
        note = {"code": code, "figures": dict(figures, side=self.name)}
        if note not in self.notes:
            self.notes.append(note)


def recheck(check, mine, digest):
    """The Verdict on a later call on the first inputs, and on a call of the reference after it."""
    verdict = check.against_stored(mine.leaves, mine.changed, digest)
    if mine.is_late:
        return Verdict("incorrect", verdict.rule, dict(verdict.figures, on="late_write"))
    if verdict.state != "correct":
        return verdict._replace(figures=dict(verdict.figures, on="later_call"))
    if check.name == "reference":
        return verdict
    outputs, changed = check.again(check.session.seed)
    itself = check.against_stored(outputs, changed, digest)
    if itself.state in ("correct", "nondeterministic"):
        return verdict._replace(figures=dict(verdict.figures, on="later_call"))
    return Verdict("incorrect", itself.rule, dict(itself.figures, on="reference_changed"))
