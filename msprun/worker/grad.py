"""Calls with gradients: forward, then backward against a fixed random cotangent."""

from typing import Any, NamedTuple

import torch

from .failures import Refusal
from .layout import is_plain
from .leaves import flatten
from .seeding import generator
from .walk import replace, tensors_in


class Gradients(NamedTuple):
    """What a call with gradients gives: its output, and the gradient or None of everything in `names`."""

    output: Any
    gradients: tuple
    names: list


class Cotangents:
    """One case's fixed random numbers by which its outputs are weighed, the same for every side."""

    def __init__(self, seed, case):
        self.key = (seed, case)
        self.made = {}

    def of(self, roots):
        """A cotangent for each of these outputs, made once."""
        return [self.one(place, root) for place, root in enumerate(roots)]

    def one(self, place, root):
        key = (place, root.shape, root.dtype, root.device)
        found = self.made.get(key)
        if found is None:
            source = generator(self.key[0], self.key[1], "cotangent/%d" % place)
            parts = tuple(root.shape) + ((2,) if root.dtype.is_complex else ())
            drawn = torch.randn(parts, generator=source, dtype=torch.float32)
            drawn = torch.view_as_complex(drawn) if root.dtype.is_complex else drawn
            found = self.made[key] = drawn.to(root.device, root.dtype)
        return found


class Differentiated:
    """A function whose call also gives the gradients of its inputs and of its model's parameters."""

    def __init__(self, function, model, arguments, cotangents):
        self.function = function
        self.model = model
        self.cotangents = cotangents
        named = tensors_in(arguments[0], "inputs") + tensors_in(arguments[1], "inputs")
        self.wanted = [pair for pair in named if pair[1].requires_grad]
        if isinstance(model, torch.nn.Module):
            self.wanted += [(name, value) for name, value in model.named_parameters() if value.requires_grad]
        if not self.wanted:
            raise Refusal("there is no gradient: no input and no parameter is floating")
        self.names = [name for name, _ in self.wanted]
        self.tensors = [tensor for _, tensor in self.wanted]

    def __call__(self, *args, **kwargs):
        output = self.function(*args, **kwargs)
        roots = [tensor for _, tensor in tensors_in(output, "") if tensor.requires_grad]
        if not roots:
            return Gradients(output, (None,) * len(self.tensors), self.names)
        weights = self.cotangents.of(roots)
        return Gradients(output, torch.autograd.grad(roots, self.tensors, weights, allow_unused=True), self.names)

    def on(self, args, kwargs, model=None):
        """The same for other arguments, and for another model where one is given."""
        function = self.function
        if model is not None:
            function = model if callable(model) else model.forward
        return Differentiated(function, model or self.model, (args, kwargs), self.cotangents)


def leaves_of(output):
    """The leaves of what a call gave, the gradients by name behind its output."""
    if not isinstance(output, Gradients):
        return flatten(output)
    leaves = flatten(output.output)
    for name, gradient in zip(output.names, output.gradients):
        leaves.extend(flatten(gradient, "gradient of %s" % name))
    return leaves


def wants_gradient(value):
    """A copy of nested arguments whose floating tensors are leaves that require a gradient."""
    return replace(value, wants_gradient_leaf)


def wants_gradient_leaf(leaf):
    if not isinstance(leaf, torch.Tensor) or not (leaf.is_floating_point() or leaf.is_complex()) or not is_plain(leaf):
        return leaf
    return leaf.detach().requires_grad_()


def grad_mode(call):
    """The context in which a call runs: with gradients where it wants them."""
    return torch.set_grad_enabled(isinstance(call.function, Differentiated))
