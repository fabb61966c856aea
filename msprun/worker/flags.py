"""Settings of the whole process that decide how fast and how exactly torch computes: kept alike for all sides."""

import gc
import sys

import torch


class Flag:
    """One setting; `write` is None where torch cannot set it back. One that this torch lacks reads as None."""

    def __init__(self, name, read, write=None):
        self.name = name
        self.read = read
        self.write = write


def attribute(name, path):
    """The flag behind an attribute of `torch`, such as `backends.cudnn.benchmark`."""
    names = path.split(".")

    def owner():
        found = torch
        for part in names[:-1]:
            found = getattr(found, part)
        return found

    return Flag(name, lambda: getattr(owner(), names[-1]), lambda value: setattr(owner(), names[-1], value))


def autocast(kind):
    """Whether autocast is on for a kind of device."""
    return Flag(
        "autocast_" + kind,
        lambda: torch.is_autocast_enabled(kind),
        lambda value: torch.set_autocast_enabled(kind, value),
    )


def set_deterministic(value):
    torch.use_deterministic_algorithms(value > 0, warn_only=value == 1)


def set_inference(value):
    """The guard that holds the mode for as long as somebody keeps it."""
    guard = torch.inference_mode(value)
    guard.__enter__()
    return guard


def set_device(value):
    torch.set_default_device(None if value.type == "cpu" else value)  # a named cpu would slow down every function


def flushes_denormals():
    """Torch has no getter: the smallest numbers are halved and looked at."""
    return (torch.tensor(1e-310, dtype=torch.float64) * 0.5).item() == 0.0


FLAGS = (
    Flag("threads", torch.get_num_threads, torch.set_num_threads),
    Flag("interop_threads", torch.get_num_interop_threads),
    Flag("default_dtype", torch.get_default_dtype, torch.set_default_dtype),
    Flag("default_device", lambda: torch.get_default_device(), set_device),
    Flag("float32_matmul_precision", torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    Flag("deterministic", torch.get_deterministic_debug_mode, set_deterministic),
    Flag("grad_mode", torch.is_grad_enabled, torch.set_grad_enabled),
    Flag("inference_mode", torch.is_inference_mode_enabled, set_inference),
    Flag("flush_denormal", flushes_denormals, torch.set_flush_denormal),
    attribute("default_generator", "default_generator"),
    Flag("mkldnn", torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled),
    Flag("garbage_collection", gc.isenabled, lambda value: gc.enable() if value else gc.disable()),
    Flag("trace_function", sys.gettrace, sys.settrace),
    Flag("profile_function", sys.getprofile, sys.setprofile),
    autocast("cpu"),
    autocast("cuda"),
    attribute("cuda_tf32", "backends.cuda.matmul.allow_tf32"),
    attribute("cuda_fp16_reduction", "backends.cuda.matmul.allow_fp16_reduced_precision_reduction"),
    attribute("cuda_bf16_reduction", "backends.cuda.matmul.allow_bf16_reduced_precision_reduction"),
    attribute("cudnn_tf32", "backends.cudnn.allow_tf32"),
    attribute("cudnn", "backends.cudnn.enabled"),
    attribute("cudnn_benchmark", "backends.cudnn.benchmark"),
    attribute("cudnn_deterministic", "backends.cudnn.deterministic"),
)


def take():
    """All settings as they are."""
    return [value_of(flag) for flag in FLAGS]


def value_of(flag):
    try:
        return flag.read()
    except (AttributeError, RuntimeError, TypeError):
        return None


def restore(before, guards):
    """Set back what has changed since `before`: {name: [before, after]} in words.

    What cannot be set back is written into `before`; `guards` gets the objects that hold a setting while they live.
    """
    changed = {}
    for place, (flag, value) in enumerate(zip(FLAGS, take())):
        known = before[place]
        if value is known or value == known:
            continue
        changed[flag.name] = [word(known), word(value)]
        try:
            guards.append(flag.write(known))
        except (AttributeError, RuntimeError, TypeError, ValueError):
            before[place] = value
    return changed


def word(value):
    """A setting as JSON has it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value).replace("torch.", "")
    return "generator at %#x" % id(value) if isinstance(value, torch.Generator) else type(value).__name__
