"""Arguments made of the descriptors of a cases file.

Numbers: floats and complex parts are drawn from the normal distribution, or evenly from low..high; integers evenly from
-100..99 (unsigned 0..99, bool 0..1) or low..high, both ends included, as int64 and then cast.
"""

import math

import torch

from .failures import Refusal
from .layout import laid
from .seeding import generator

UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
OFFSET_STEP = 99


def make_arguments(descriptors, seed, case):
    """The names and values of one case's arguments, in file order."""
    names = [descriptor["name"] for descriptor in descriptors]
    values = []
    for position, descriptor in enumerate(descriptors):
        name = names[position]
        key = name if name and names.count(name) == 1 else "%s#%d" % (name, position)
        try:
            values.append(make_value(descriptor, (seed, case, key), rows_beside(descriptors, position)))
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise Refusal("case %d, input %s: %s" % (case, name or position, error)) from None
    return names, values


def rows_beside(descriptors, position):
    """Rows of the first other tensor that has any and holds no offsets itself, else None."""
    for place, other in enumerate(descriptors):
        if place != position and other["type"] == "tensor" and other.get("fill") != "offsets" and other.get("shape"):
            return other["shape"][0]
    return None


def make_value(descriptor, key, rows):
    """The value of one descriptor; `key` is (seed, case, name)."""
    if descriptor["type"] == "tensor":
        return make_tensor(descriptor, generator(*key), rows)
    if descriptor["type"] == "tensor_list":
        seed, case, name = key
        return [
            make_tensor(item, generator(seed, case, "%s/%d" % (name, place)), rows)
            for place, item in enumerate(descriptor["items"])
        ]
    return make_scalar(descriptor["kind"], descriptor.get("value"))


def make_scalar(kind, value):
    """A plain value of its JSON form."""
    if kind == "none":
        return None
    if kind == "dtype":
        return torch_dtype(value)
    if kind == "complex":
        return complex(*value)
    return {"bool": bool, "int": int, "float": float, "str": str, "list": list}[kind](value)


def torch_dtype(name):
    """The dtype of that name in this torch."""
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ValueError("torch %s has no dtype %s" % (torch.__version__, name))
    return found


def make_tensor(descriptor, source, rows):
    """One tensor on the CPU in the memory layout that is asked for, or None for a null shape."""
    if descriptor.get("shape") is None:
        return None
    tensor = draw(descriptor, source, rows)
    if descriptor.get("stride") is not None:
        return laid(tensor, descriptor["stride"])
    return tensor.contiguous(memory_format=getattr(torch, descriptor.get("format") or "contiguous_format"))


def draw(descriptor, source, rows):
    """The numbers of one tensor, contiguous."""
    shape = descriptor["shape"]
    dtype = torch_dtype(descriptor["dtype"])
    fill = descriptor.get("fill", "normal")
    bounds = (descriptor.get("low"), descriptor.get("high"))
    if fill == "value":
        return filled(descriptor.get("value"), tuple(shape), dtype)
    if fill == "offsets":
        return offsets(tuple(shape), dtype, source, rows, bounds)
    if dtype.is_floating_point or dtype.is_complex:
        moments = (descriptor.get("mean"), descriptor.get("std"))
        return numbers(tuple(shape), dtype, source, (bounds if fill == "uniform" else None, moments))
    return integers(tuple(shape), dtype, source, bounds)


def filled(value, shape, dtype):
    """A tensor of exactly that value: a number fills it, nested lists have its shape."""
    tensor = torch.tensor(value, dtype=dtype if dtype in (torch.bool, getattr(torch, "uint64", None)) else wide(dtype))
    return tensor.expand(shape).contiguous().to(dtype)


def wide(dtype):
    """The type in which numbers for `dtype` are held before the cast."""
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else torch.int64


def numbers(shape, dtype, source, law):
    """Floats or complex numbers, whose parts are drawn alike; `law` is (bounds or None, (mean, standard deviation))."""
    bounds, (mean, deviation) = law
    parts = shape + (2,) if dtype.is_complex else shape
    if bounds:
        low, high = (0.0 if bounds[0] is None else bounds[0], 1.0 if bounds[1] is None else bounds[1])
        share = torch.rand(parts, generator=source, dtype=torch.float64)
        drawn = low * (1 - share) + high * share
    else:
        precise = dtype in (torch.float64, torch.complex128)
        drawn = torch.randn(parts, generator=source, dtype=torch.float64 if precise else torch.float32)
        drawn = drawn * (1.0 if deviation is None else deviation) + (mean or 0.0)
    if dtype.is_complex:
        drawn = torch.view_as_complex(drawn)
    return drawn.to(dtype)


def integers(shape, dtype, source, bounds):
    """Integers or bools, evenly from an inclusive range."""
    low, high = (0, 1) if dtype == torch.bool else (0, 99) if label(dtype) in UNSIGNED else (-100, 99)
    low = low if bounds[0] is None else math.ceil(bounds[0])
    high = high if bounds[1] is None else math.floor(bounds[1])
    if low > high:
        raise ValueError("no integer lies in the range %s..%s" % bounds)
    return torch.randint(low, min(high + 1, 2**63 - 1), shape, generator=source, dtype=torch.int64).to(dtype)


def offsets(shape, dtype, source, rows, bounds):
    """Integers that never fall along dimension 0 and end at the number of rows that they cut up.

    The end is the rows of the first other tensor, without one 99 for each offset, and never more than `high` or than
    the dtype holds, so that nothing wraps.
    """
    most = rows if rows is not None else OFFSET_STEP * (shape[0] if shape else 1)
    end = min(most, torch.iinfo(dtype).max, most if bounds[1] is None else math.floor(bounds[1]))
    start = min(end, 0 if bounds[0] is None else math.ceil(bounds[0]))
    drawn = torch.randint(start, end + 1, shape, generator=source, dtype=torch.int64)
    if not shape:
        return torch.full((), end, dtype=torch.int64).to(dtype)
    drawn = drawn.sort(dim=0).values
    if shape[0]:
        drawn[-1] = end
    return drawn.to(dtype)


def label(dtype):
    """`float32` of torch.float32."""
    return str(dtype).replace("torch.", "")
