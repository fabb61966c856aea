"""Building a side: constructor arguments, the same random numbers, the same weights."""

import time

import torch

from .binding import first_that_binds
from .failures import Refusal
from .provider import CONTAINERS
from .seeding import seed_everything
from .walk import to_device

NAMES_SHOWN = 20


def init_forms(made, case, cases):
    """The forms (args, kwargs) that a get_init_inputs answer may mean, preferred first.

    A dict is keywords. A list or tuple with one list, tuple or dict for each of `cases` cases is grouped by case; any
    other is flat.
    """
    if made is None:
        return [((), {})]
    if isinstance(made, dict):
        return [((), dict(made))]
    if not isinstance(made, (list, tuple)):
        raise Refusal("get_init_inputs must return a list, tuple or dict, not %s" % type(made).__name__)
    flat = (tuple(made), {})
    grouped = len(made) == cases and all(isinstance(entry, CONTAINERS) for entry in made)
    if not grouped or case >= len(made):
        return [flat]
    entry = made[case]
    return [((), dict(entry)) if isinstance(entry, dict) else (tuple(entry), {}), flat]


def build(cls, forms, seed, device):
    """An instance in evaluation mode on the device, made with freshly seeded random numbers, and its seconds."""
    args, kwargs = to_device(first_that_binds(cls, forms), device)
    seed_everything(seed)
    start = time.perf_counter()
    model = cls(*args, **kwargs)
    if isinstance(model, torch.nn.Module):
        model = model.to(device).eval()
    return model, time.perf_counter() - start


def prepare(running, model, call):
    """Let a model's `prepare` see the arguments of the call; its microseconds."""
    with running, torch.no_grad():
        start = time.perf_counter_ns()
        model.prepare(*call.args, **call.kwargs)
        return (time.perf_counter_ns() - start) / 1000


def weights_of(model):
    """The weights of a model by name, None where it is no module."""
    return model.state_dict() if isinstance(model, torch.nn.Module) else None


def copy_weights(given, target):
    """Load weights by name into the target; notes about those that have no twin of the same shape."""
    wanted = weights_of(target)
    if given is None or wanted is None:
        return []
    fits = {key: value for key, value in given.items() if same_shape(value, wanted.get(key))}
    if fits:
        target.load_state_dict(fits, strict=False)
    missing = sorted(key for key in wanted if key not in fits)
    unexpected = sorted(key for key in given if key not in fits)
    if not missing and not unexpected:
        return []
    figures = {"missing": missing[:NAMES_SHOWN], "unexpected": unexpected[:NAMES_SHOWN]}
    return [{"code": "weights_differ", "figures": figures}]


def same_shape(value, other):
    """Both are tensors of one shape, or neither is a tensor and both are there."""
    if isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor):
        return value.shape == other.shape
    return other is not None and not isinstance(other, torch.Tensor)
