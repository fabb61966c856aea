"""Elements that are not compared: those where the operator's own `file.py:function(inputs, outputs)` says False.

Masked elements become equal on both sides: NaN, which no figure counts, in floats, the reference's own in integers.
"""

import torch

from .compare import signed
from .failures import Refusal
from .leaves import rebuild
from .walk import tensors_in


def apply(function, name, inputs, sides):
    """Both lists of leaves with their masked elements made alike, and how many; `sides` are (reference, candidate)."""
    reference, candidate = sides
    masks = masks_of(function(inputs, rebuild(reference)), name)
    places = [place for place, leaf in enumerate(reference) if leaf.tensor is not None]
    if len(masks) > len(places):
        raise Refusal("%s gives %d masks for %d outputs" % (name, len(masks), len(places)))
    reference, candidate, hidden = list(reference), list(candidate), 0
    for place, mask in zip(places, masks):
        if mask is None or not is_alike(reference, candidate, place):
            continue
        hide = ~fitting(mask, reference[place], name)
        hidden += int(hide.sum())
        reference[place], candidate[place] = hide_in(reference[place], candidate[place], hide)
    return reference, candidate, hidden


def masks_of(answer, name):
    """The masks of an answer in the order of the outputs' tensors; None leaves an output as it is."""
    if answer is None or isinstance(answer, torch.Tensor):
        return [answer]
    if isinstance(answer, dict):
        return [mask for _, mask in tensors_in({key: answer[key] for key in sorted(answer, key=repr)}, "")]
    if isinstance(answer, (list, tuple)) and all(mask is None or isinstance(mask, torch.Tensor) for mask in answer):
        return list(answer)
    raise Refusal("%s must return a mask, a list of masks or None" % name)


def is_alike(reference, candidate, place):
    """What stands there can be compared at all; where it cannot, the comparison says so."""
    if place >= len(candidate) or candidate[place].tensor is None:
        return False
    return reference[place].shape == candidate[place].shape and reference[place].dtype == candidate[place].dtype


def fitting(mask, leaf, name):
    """The mask as bools of the leaf's shape."""
    try:
        return mask.detach().cpu().to(torch.bool).expand(leaf.tensor.shape).reshape(-1)
    except RuntimeError:
        shapes = (name, list(mask.shape), leaf.path, leaf.shape)
        raise Refusal("%s gives a mask of shape %s for %s of shape %s" % shapes) from None


def hide_in(one, other, hide):
    """Both leaves with the hidden elements made alike."""
    if one.tensor.is_floating_point() or one.tensor.is_complex():
        return tuple(leaf._replace(tensor=with_nan(leaf.tensor, hide)) for leaf in (one, other))
    bits = signed(other.tensor).clone()
    bits[hide] = signed(one.tensor)[hide]
    return one, other._replace(tensor=bits.view(other.tensor.dtype).reshape(other.tensor.shape))


def with_nan(tensor, hide):
    """A copy with NaN, which is all ones in every format, at the hidden places."""
    parts = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    bits = signed(parts).clone().reshape(tensor.numel(), -1) if tensor.numel() else signed(parts).clone()
    bits[hide] = -1
    made = bits.reshape(-1).view(parts.dtype).reshape(parts.shape)
    return torch.view_as_complex(made) if tensor.is_complex() else made
