"""The functions that the worker and the reference stand on, known by identity before operator code is imported."""

import builtins
import gc
import hashlib
import json
import math
import os
import random
import sys
import time

import torch
from torch import library

NAMES_SHOWN = 20
TORCH_FOLDER = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class Namespace:
    """The callables of a module or class. For a class, names that newly hide those of its bases count too."""

    def __init__(self, owner, name):
        self.owner = owner
        self.name = name
        self.live = vars(owner)
        self.is_class = isinstance(owner, type)
        known = {key: value for key, value in dict(self.live).items() if is_code(value)}
        self.names, self.values = list(known), list(known.values())
        self.size = len(self.live)

    def touched(self):
        """Names that no longer mean what they did, put right again."""
        found = []
        if list(map(self.live.get, self.names)) != self.values:
            for place, (name, value) in enumerate(zip(self.names, self.values)):
                now = self.live.get(name)
                if now is value:
                    continue
                if is_torch_own(now, name):
                    self.values[place] = now
                    continue
                found.append(name)
                setattr(self.owner, name, value)
        if self.is_class and len(self.live) != self.size:
            found.extend(self.hiding())
            self.size = len(self.live)
        return ["%s.%s" % (self.name, name) for name in found]

    def hiding(self):
        """New names of a class that hide one of its bases, taken away."""
        new = [name for name in list(self.live) if name not in self.names and is_code(self.live[name])]
        hidden = [name for name in new if any(hasattr(base, name) for base in self.owner.__mro__[1:-1])]
        hidden = [name for name in hidden if not is_torch_own(self.live[name], name)]
        for name in hidden:
            delattr(self.owner, name)
        return hidden


def is_code(value):
    """Something that is called, or calls by way of a class."""
    return callable(value) or isinstance(value, (property, classmethod, staticmethod))


def is_torch_own(value, name):
    """Torch itself replaces functions by wrappers of the same name, when its compiler is loaded for instance."""
    if getattr(value, "__name__", None) != name:
        return False
    code = getattr(value, "__code__", None)
    return code is None or code.co_filename.startswith(TORCH_FOLDER)


class Harness:
    """Functions of torch, of the standard library and of this worker; `touched` says which are others now."""

    def __init__(self):
        owners = [builtins, gc, hashlib, json, math, random, time, torch, torch.nn.functional, torch._C._nn]
        owners += [torch.Tensor, torch.nn.Module, torch.Generator, torch.autograd, torch.autograd.profiler]
        owners += own_code()
        spaces = [Namespace(owner, name_of(owner)) for owner in owners]
        self.spaces = [space for space in spaces if space.names]
        self.kernels = overridden()
        self.count = count_overridden()

    def touched(self):
        """What was replaced since the last look, in words; all but registered kernels is put right again."""
        found = [name for space in self.spaces for name in space.touched()]
        if count_overridden() != self.count:
            kernels = overridden()
            found += sorted(kernels - self.kernels)
            self.kernels, self.count = kernels, count_overridden()
        return found[:NAMES_SHOWN]


class Reference:
    """The reference's own code, which nobody else may change: its module, classes and models."""

    def __init__(self):
        self.spaces = []
        self.models = {}

    def add_module(self, module):
        """Guard the functions and classes of a module that was just imported."""
        own = [value for value in vars(module).values() if isinstance(value, type)]
        own = [value for value in own if value.__module__ == module.__name__]
        self.spaces = [Namespace(owner, name_of(owner)) for owner in [module] + own]

    def look(self):
        """The models' state, to be compared after other code has run."""
        return {key: state_of(model) for key, model in self.models.items()}

    def touched(self, before):
        """What others replaced in it."""
        found = [name for space in self.spaces for name in space.touched()]
        for key, state in before.items():
            if state_of(self.models[key]) != state:
                found.append("the model of the reference")
                self.repair(self.models[key], state)
        return found[:NAMES_SHOWN]

    def repair(self, model, state):
        """Take away what hides the model's own `forward`."""
        if state[0] is None:
            vars(model).pop("forward", None)
        else:
            vars(model)["forward"] = state[0]
        for name, kept in zip(HOOKS, state[1:]):
            hooks = vars(model).get(name)
            for key in list(hooks or ()):
                if key not in kept:
                    del hooks[key]


def state_of(model):
    """An own `forward` of the instance and its hooks."""
    held = vars(model) if hasattr(model, "__dict__") else {}
    return (held.get("forward"),) + tuple(tuple(held.get(name) or ()) for name in HOOKS)


def own_code():
    """This worker's modules and their classes."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(__package__ + ".")]
    classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return modules + [owner for owner in dict.fromkeys(classes) if owner.__module__.startswith(__package__ + ".")]


def name_of(owner):
    return "%s.%s" % (owner.__module__, owner.__name__) if isinstance(owner, type) else owner.__name__


def overridden():
    """Kernels of torch's own operators that Python code has registered."""
    return {key for key in getattr(library, "_impls", ()) if str(key).startswith("aten/")}


def count_overridden():
    return len(getattr(library, "_impls", ()))
