"""The value of an expression for the arguments of one call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msprun.errors import ConfigError
from msprun.suggest import closest
from msprun.work.expression import (
    LARGEST,
    Apply,
    Chain,
    Expression,
    Item,
    Member,
    Name,
    Negative,
    Number,
    Tree,
    fault,
    shown,
)
from msprun.work.facts import OUT, Fact, Facts, Other, Outputs, Tensor

Plain = int | float
_NUMBERED = re.compile(r"arg[0-9]+")
_NAMES_SHOWN = 8


def evaluate(expression: Expression, facts: Facts) -> float:
    """The value, finite and at least 0. An argument that is None has no elements and no bytes.

    Raises ConfigError with the column for an unknown input, an index out of range, a part that the argument has not,
    a division by zero, a value above 1e30 and a result below 0.
    """
    value = _Evaluator(expression.key, facts).number(expression.tree)
    if value < 0:
        raise ConfigError(f"{expression.key} is {value:g}, less than nothing", "it counts bytes or operations")
    return float(value)


class _Evaluator:
    """Walks one tree; no deeper than the parser lets it be."""

    def __init__(self, key: str, facts: Facts) -> None:
        self._key = key
        self._facts = facts

    def number(self, tree: Tree) -> Plain:
        """The value of a part that must be one number."""
        return self._plain(tree, self._value(tree))

    def _plain(self, tree: Tree, value: Fact) -> Plain:
        if isinstance(value, int | float):
            return self._bounded(tree, value)
        raise fault(self._key, tree.column, f"{_spelled(tree)} is {_kind(value)}, not a number", _way_on(tree, value))

    def _value(self, tree: Tree) -> Fact:
        if isinstance(tree, Number):
            return tree.value
        if isinstance(tree, Name):
            return self._named(tree)
        if isinstance(tree, Member):
            return self._member(tree)
        if isinstance(tree, Item):
            return self._item(tree)
        if isinstance(tree, Negative):
            return -self.number(tree.of)
        return self._chained(tree) if isinstance(tree, Chain) else self._applied(tree)

    def _named(self, tree: Name) -> Fact:
        if tree.name in self._facts:
            return self._facts[tree.name]
        known = [name for name in self._facts if name.isidentifier() and name.isascii()]
        own = [name for name in known if not _NUMBERED.fullmatch(name)] or known
        near = closest(tree.name, own)
        hint = f"did you mean {near}?" if near else f"the inputs are {', '.join(own[:_NAMES_SHOWN]) or 'none'}"
        raise fault(self._key, tree.column, f"there is no input {shown(tree.name)}", hint)

    def _member(self, tree: Member) -> Fact:
        owner = self._value(tree.of)
        if tree.name in ("numel", "nbytes"):
            return self._size(tree, owner)
        if isinstance(owner, Tensor):
            if tree.name == "shape":
                return owner.shape
            return len(owner.shape) if tree.name == "ndim" else self._item_bytes(tree, owner)
        raise self._lacks(tree, owner)

    def _size(self, tree: Member, owner: Fact) -> Plain:
        if owner is None:
            return 0
        if isinstance(owner, Outputs) and tree.name == "nbytes":
            return owner.nbytes
        if isinstance(owner, Tensor):
            return owner.numel if tree.name == "numel" else owner.numel * self._item_bytes(tree, owner)
        if isinstance(owner, tuple) and all(entry is None or isinstance(entry, Tensor) for entry in owner):
            return sum(self._size(tree, entry) for entry in owner)
        raise self._lacks(tree, owner)

    def _item_bytes(self, tree: Member, owner: Tensor) -> int:
        if owner.itemsize is None:
            raise fault(self._key, tree.column, f"the size of a {shown(owner.dtype)} is not known", "write the number")
        return owner.itemsize

    def _lacks(self, tree: Member, owner: Fact) -> ConfigError:
        what = f"{_spelled(tree.of)} is {_kind(owner)} and has no .{tree.name}"
        return fault(self._key, tree.column, what, _way_on(tree.of, owner))

    def _item(self, tree: Item) -> Fact:
        owner, index = self._value(tree.of), self.number(tree.index)
        if not isinstance(owner, tuple):
            what = f"{_spelled(tree.of)} is {_kind(owner)} and has no [i]"
            raise fault(self._key, tree.column, what, _way_on(tree.of, owner))
        if not isinstance(index, int) or not -len(owner) <= index < len(owner):
            what = f"{_spelled(tree.of)} has {len(owner)} entries, and none at {index:g}"
            raise fault(self._key, tree.column, what, "entries are counted from 0, or from -1 backwards")
        return owner[index]

    def _chained(self, tree: Chain) -> Plain:
        value = self.number(tree.first)
        for link in tree.links:
            operand = self.number(link.operand)
            if link.sign in ("/", "//") and operand == 0:
                raise fault(self._key, link.column, "something is divided by 0", "max(1, ...) keeps a divisor above 0")
            value = self._bounded(tree, _combined(link.sign, value, operand))
        return value

    def _applied(self, tree: Apply) -> Plain:
        values = [value for argument in tree.arguments for value in self._numbers(argument)]
        if tree.function in ("min", "max"):
            if not values:
                raise fault(self._key, tree.column, f"{tree.function} of nothing", "a 0-d tensor has an empty shape")
            return min(values) if tree.function == "min" else max(values)
        sign, total = ("+", 0) if tree.function == "sum" else ("*", 1)
        return self._folded(tree, sign, total, values)

    def _folded(self, tree: Tree, sign: str, total: Plain, values: Sequence[Plain]) -> Plain:
        for value in values:
            total = self._bounded(tree, _combined(sign, total, value))
        return total

    def _numbers(self, tree: Tree) -> list[Plain]:
        """The numbers of an argument: itself, or the entries of a shape or list."""
        value = self._value(tree)
        if not isinstance(value, tuple):
            return [self._plain(tree, value)]
        numbers = [entry for entry in value if isinstance(entry, int | float)]
        if len(numbers) < len(value):
            raise fault(self._key, tree.column, f"{_spelled(tree)} is {_kind(value)}, not of numbers alone")
        return numbers

    def _bounded(self, tree: Tree, value: Plain) -> Plain:
        """Small enough to go on with: nothing grows without end, and nothing is infinite or no number."""
        if not -LARGEST <= value <= LARGEST:
            raise fault(self._key, tree.column, f"a value is beyond {LARGEST:g}", "are the inputs what you think?")
        return value


def _combined(sign: str, left: Plain, right: Plain) -> Plain:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return left / right if sign == "/" else left // right


def _spelled(tree: Tree) -> str:
    """A part as it was written, as far as a message needs it."""
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Member):
        return f"{_spelled(tree.of)}.{tree.name}"
    if isinstance(tree, Item):
        return f"{_spelled(tree.of)}[i]"
    return "this"


def _kind(value: Fact) -> str:
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return "a tensor"
    if isinstance(value, tuple):
        return f"a list of {len(value)}"
    if isinstance(value, Other):
        return f"of type {value.kind}"
    return "all outputs together" if isinstance(value, Outputs) else "a number"


def _way_on(tree: Tree, value: Fact) -> str:
    name = _spelled(tree)
    if isinstance(value, tuple):
        return f"take one of them, {name}[0], or all: prod({name}), sum({name})"
    if isinstance(value, Outputs):
        return f"only {OUT}.nbytes is known"
    if value is None:
        return f"{name}.nbytes and {name}.numel of None are 0"
    return f"{name}.nbytes, {name}.numel, {name}.shape[0]" if isinstance(value, Tensor) else "leave it out"
