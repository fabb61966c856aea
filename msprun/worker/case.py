"""One loaded case: its arguments, and what each side has done with them so far."""

from contextlib import contextmanager

from .binding import Arguments
from .facts import facts
from .failures import Refusal
from .grad import Cotangents, wants_gradient
from .inputs import label, make_arguments
from .leaves import flatten
from .provider import spread
from .snapshot import Snapshot
from .walk import bytes_of, tensors_in, to_device


class Side:
    """One side of a case: the model, its call, and what its first call left behind.

    `changed` are the leaves of inputs that the call changed, by position. `prepare` makes ready for the contents that
    the inputs have now; None where the class has no such method (`has_prepare`). `looks` counts its breakdowns.
    """

    def __init__(self, model, call, prepare=None):
        self.model = model
        self.call = call
        self.prepare = prepare
        self.has_prepare = prepare is not None
        self.first_us = None
        self.outputs = None
        self.changed = {}
        self.looks = 0

    def empty(self):
        """Let go of what takes memory on the device; what its first call told stays."""
        self.model = self.call = self.prepare = None

    def fill(self, other):
        """Take over what another one has that was made like this."""
        self.model, self.call, self.prepare = other.model, other.call, other.prepare


class Case:
    """`changing` are the positions of inputs that either side changes, `snapshot` their first contents.

    `sizes` are the bytes of the reference's outputs, `rotation` the copies of the inputs for cache=rotate.
    `bring` makes a side again where the sides do not fit into memory together, else None; `weights` are then those of
    the reference.
    """

    def __init__(self, index, arguments, source):
        self.index = index
        self.arguments = arguments
        self.source = source
        self.tensors = tensors_in(arguments.positional, "inputs") + tensors_in(arguments.keywords, "inputs")
        self.sides = {}
        self.changing = set()
        self.snapshot = None
        self.held = False
        self.sizes = ()
        self.rotation = None
        self.cotangents = None
        self.bring = None
        self.weights = None

    def known(self, name):
        """What is known of a side. Raises Refusal before it was constructed."""
        if name not in self.sides:
            raise Refusal("case %d has no %s yet" % (self.index, name))
        return self.sides[name]

    def side(self, name):
        """That side, ready to be called: made again where it was let go."""
        if self.known(name).model is None:
            self.bring(name)
        return self.sides[name]

    @property
    def is_parted(self):
        """One side at a time is in memory."""
        return self.bring is not None

    def take_snapshot(self):
        """The snapshot of the inputs as they are, made when there is none."""
        if self.snapshot is None:
            self.snapshot = Snapshot(self.tensors)
        return self.snapshot

    @contextmanager
    def holding(self):
        """What the inputs hold now is what calls inside begin with, and what the inputs hold again afterwards."""
        before = self.snapshot, self.held
        self.snapshot, self.held = Snapshot(self.tensors), True
        try:
            yield
        finally:
            self.snapshot.restore()
            if self.changing and before[0] is None:
                before = self.snapshot, before[1]
            self.snapshot, self.held = before

    def settle(self):
        """Undo what a call did to the inputs; answers {position: leaves of the changed input}."""
        snapshot = self.take_snapshot()
        changed = {place: flatten(self.tensors[place][1], self.tensors[place][0]) for place in snapshot.changed()}
        snapshot.restore(changed)
        self.changing.update(changed)
        if not self.changing and not self.held:
            self.snapshot = None
        return changed

    def restore(self):
        """Give the inputs that some side changes their first contents again."""
        if self.changing:
            self.snapshot.restore(sorted(self.changing))

    def labels(self):
        """What a load or describe answers about the arguments."""
        known = {"bytes": bytes_of([tensor for _, tensor in self.tensors]), "arguments": facts(self.arguments)}
        return dict(labels(self.tensors), empty=self.is_empty, **known)

    @property
    def is_empty(self):
        """Some input tensor holds no element."""
        return any(tensor.numel() == 0 for _, tensor in self.tensors)

    def with_gradients(self, seed):
        """The same case whose floating inputs require gradients."""
        arguments = self.arguments
        positional, keywords = wants_gradient(arguments.positional), wants_gradient(arguments.keywords)
        case = Case(self.index, Arguments(positional, keywords, arguments.names), self.source)
        case.cotangents = Cotangents(seed, self.index)
        return case


def labels(tensors):
    """Shape and dtype of the first tensor as reports write them; `?` is the old script's word where there is none."""
    if not tensors:
        return {"shape": "?", "dtype": "?"}
    first = tensors[0][1]
    return {"shape": str(list(first.shape)), "dtype": label(first.dtype)}


def provided(index, group, device):
    """A case of a provider's group (positional, keywords)."""
    positional, keywords = to_device(group[0], device), to_device(group[1], device)
    return Case(index, Arguments(positional, keywords), "provider")


def described(index, descriptors, seed, device):
    """A case of a cases file's descriptors."""
    names, values = make_arguments(descriptors, seed, index)
    return Case(index, Arguments(to_device(values, device), {}, names), "cases_file")


def group_labels(group):
    """Shape and dtype labels of a provider's group."""
    return labels(tensors_in(spread(group), "inputs"))
