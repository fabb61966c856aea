"""What goes wrong on the emulated device, by FAKE_CANN_FAULT: `name[:arg]...[@when]...`, several with commas.

`@once` strikes in one process of a state folder alone, `@collecting` only below a collector, `@plain` only without.
"""

import os


class Fault:
    """One fault: its name, its arguments (text) and when it strikes."""

    def __init__(self, text):
        words = text.split("@")
        self.name, *self.args = words[0].split(":")
        self.when = words[1:]

    def number(self, place, default):
        """An argument as an integer."""
        return int(self.args[place]) if len(self.args) > place and self.args[place] else default

    def word(self, place, default=""):
        """An argument as text."""
        return self.args[place] if len(self.args) > place else default


class Faults:
    """The faults that hold in this process."""

    def __init__(self, text, state, collecting):
        self.state = state
        known = [Fault(words) for words in text.split(",") if words]
        self.all = [fault for fault in known if self.holds(fault, collecting)]

    def holds(self, fault, collecting):
        return not ("collecting" in fault.when and not collecting or "plain" in fault.when and collecting)

    def named(self, name):
        """The faults of a name."""
        return [fault for fault in self.all if fault.name == name]

    def first(self, name):
        """The fault of that name, or None."""
        return next(iter(self.named(name)), None)

    def take(self, fault):
        """Whether a fault may strike now: those of `@once` strike in the first process that comes to it."""
        if "once" not in fault.when:
            return True
        path = os.path.join(self.state, "fault-%s-%s" % (fault.name, "-".join(fault.args)))
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True
