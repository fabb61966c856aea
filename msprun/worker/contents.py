"""Other contents for the inputs of a case, as valid as the first."""

import torch

from .failures import StageError, at
from .inputs import make_arguments
from .layout import is_plain, narrowed, once, write
from .leaves import same_bits
from .seeding import generator
from .walk import replace, tensors_in

SEED_STEP = 1000003  # seeds that users compare lie nearer to each other


def change(session, case, number, floats_only=False):
    """Write other contents into a case's input tensors; how they were found (`seed`, `perturbed`), None without any.

    `number` tells several contents apart. Descriptors and provider are asked with another seed; where that gives the
    same, or tensors of other shapes, floating tensors are scaled element by element, which keeps signs, zeros,
    infinities and ranges. Integers then stay as they are, for they may be indices.
    """
    values = drawn(session, case, number)
    if floats_only and values is not None:
        values = [value if value is not None and value.is_floating_point() else None for value in values]
    if values is not None and put(case, values):
        return "seed"
    return "perturbed" if put(case, perturbed(case, session.seed, number)) else None


def put(case, values):
    """Write values, None for those that stay; whether anything is different now."""
    changed = False
    for (_, tensor), value in zip(case.tensors, values):
        if value is None or same_bits(tensor, value):
            continue
        write(tensor, value)
        changed = True
    return changed


def drawn(session, case, number):
    """The input tensors of another seed, None where they cannot be had or do not fit."""
    seed = session.seed + number * SEED_STEP
    if case.source == "cases_file":
        values = make_arguments(session.job.cases[case.index], seed, case.index)[1]
        return fitting(case, [values, {}])
    provider = session.provider()
    if provider.kept is None:
        return None  # too large to be made twice
    try:
        with at("inputs", "reference"), session.watch.running("reference"):
            return fitting(case, session.other_provider(seed).group(case.index))
    except StageError:
        return None


def fitting(case, arguments):
    """The tensors among those arguments, None where anything but their contents differs from the case's own."""
    mine = case.arguments
    values = tensors_in(arguments[0], "inputs") + tensors_in(arguments[1], "inputs")
    if [path for path, _ in values] != [path for path, _ in case.tensors]:
        return None
    for (_, one), (_, other) in zip(case.tensors, values):
        if one.shape != other.shape or one.dtype != other.dtype or one.layout != other.layout:
            return None
    try:
        if replace([mine.positional, mine.keywords], without_tensor) != replace(list(arguments), without_tensor):
            return None
    except Exception:
        return None
    return [value for _, value in values]


def without_tensor(leaf):
    return None if isinstance(leaf, torch.Tensor) else leaf


def perturbed(case, seed, number):
    """Scaled floating tensors, one after the other, made on the CPU: the device may have no room for them.

    Those of several whole numbers may be masks: rolled, when there are no others.
    """
    floats = [is_floating(tensor) for _, tensor in case.tensors]
    masks = [floats[place] and is_mask(tensor) for place, (_, tensor) in enumerate(case.tensors)]
    only_masks = masks == floats
    for place, (_, tensor) in enumerate(case.tensors):
        if not floats[place] or (masks[place] and not only_masks):
            yield None
        elif masks[place]:
            yield tensor.detach().cpu().roll(number)
        else:
            yield scaled(tensor.detach().cpu(), generator(seed, case.index, "scale%d/%d" % (number, place)))


def is_floating(tensor):
    return is_plain(tensor) and tensor.numel() > 0 and (tensor.is_floating_point() or tensor.is_complex())


def is_mask(tensor):
    """Whole numbers or infinities of more than one value."""
    if tensor.is_complex():
        return False
    numbers = once(tensor.detach()).cpu().to(torch.float64 if tensor.dtype == torch.float64 else torch.float32)
    return bool((numbers == numbers.round()).all()) and bool(numbers.min() != numbers.max())


def scaled(tensor, source):
    """Elements times numbers from a half to one."""
    factors = torch.rand(tensor.shape, generator=source) / 2 + 0.5
    factors = narrowed(factors, tensor).expand(tensor.shape)
    if tensor.element_size() == 1:
        return (tensor.to(torch.float32) * factors).to(tensor.dtype)
    return (tensor * factors).to(tensor.dtype)


def shrink(case, number):
    """Scale floating inputs by 3/4, 4/5, 5/6 ... for number 0, 1, 2 ...: unseen contents; whether there were any."""
    found = False
    factor = (number + 3) / (number + 4)
    for _, tensor in case.tensors:
        if is_floating(tensor) and not is_mask(tensor):
            values = tensor.detach()
            is_small = tensor.element_size() == 1  # float8 knows no product
            write(tensor, values.roll(number + 1) if is_small else values * factor)
            found = True
    return found
