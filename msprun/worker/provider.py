"""The inputs that model.py makes itself: get_input_groups, else get_inputs."""

import os

from .failures import Refusal
from .seeding import seed_everything
from .walk import bytes_of

FUNCTIONS = ("get_input_groups", "get_inputs")
CONTAINERS = (list, tuple, dict)


def find_provider(module):
    """The name of the provider in a module, or None."""
    return next((name for name in FUNCTIONS if callable(getattr(module, name, None))), None)


class Provider:
    """Calls a provider once and keeps its groups while they fit a quarter of the free memory."""

    def __init__(self, module, name, seed):
        self.function = getattr(module, name)
        self.name = name
        self.seed = seed
        self.kept = None
        self.count = None

    def groups(self):
        """All groups: each a list or tuple of positional arguments, a dict of keywords, or a single argument."""
        if self.kept is not None:
            return self.kept
        seed_everything(self.seed)
        groups = as_groups(self.name, self.function())
        self.count = len(groups)
        if bytes_of(groups) <= free_bytes() / 4:
            self.kept = groups
        return groups

    def group(self, case):
        """The positional arguments and the keywords of one case. Raises Refusal when there are too few groups."""
        groups = self.groups()
        if case >= len(groups):
            raise Refusal("%s has %d groups, so none for case %d" % (self.name, len(groups), case))
        return spread(groups[case])


def as_groups(name, made):
    """A provider's answer as a list of groups; a flat get_inputs is one group."""
    if name == "get_inputs" and isinstance(made, dict):
        return [made]
    if not isinstance(made, (list, tuple)):
        raise Refusal("%s must return a list, not %s" % (name, type(made).__name__))
    if name == "get_inputs" and any(not isinstance(entry, CONTAINERS) for entry in made):
        return [list(made)]
    return list(made)


def spread(group):
    """A group as (positional, keywords)."""
    if isinstance(group, dict):
        return [], dict(group)
    if isinstance(group, (list, tuple)):
        return list(group), {}
    return [group], {}


def free_bytes():
    """Memory that can be had without swapping."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
