"""Expressions of `op.work`: a text becomes a tree. Nothing in it is ever executed."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from msgspec import Struct

from msprun.errors import ConfigError

FUNCTIONS = ("min", "max", "prod", "sum")
MEMBERS = ("shape", "numel", "itemsize", "nbytes", "ndim")
LENGTH_LIMIT = 500
DEPTH_LIMIT = 32
LARGEST = 1e30
ALLOWED = (
    "allowed are numbers, inputs (x, w[0], arg0), .shape[i] .numel .itemsize .nbytes .ndim, "
    "+ - * / // ( ) and min max prod sum"
)
# ASCII alone: other scripts' digits and letters are no part of the language.
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>//|\*\*|[-+*/(),.\[\]])"
)
_BLANKS = " \t\r\n"
_SHOWN = 20


class Node(Struct, frozen=True, kw_only=True):
    """A part of an expression; `column` counts from 1."""

    column: int


class Number(Node, frozen=True, kw_only=True):
    """A number as it stands in the text."""

    value: int | float


class Name(Node, frozen=True, kw_only=True):
    """An input."""

    name: str


class Member(Node, frozen=True, kw_only=True):
    """`of.name`."""

    of: Tree
    name: str


class Item(Node, frozen=True, kw_only=True):
    """`of[index]`."""

    of: Tree
    index: Tree


class Negative(Node, frozen=True, kw_only=True):
    """`-of`."""

    of: Tree


class Link(Node, frozen=True, kw_only=True):
    """An operator and what stands behind it."""

    sign: str
    operand: Tree


class Chain(Node, frozen=True, kw_only=True):
    """Operators of one rank, from left to right: a long sum is no deep tree."""

    first: Tree
    links: tuple[Link, ...]


class Apply(Node, frozen=True, kw_only=True):
    """`function(arguments)`."""

    function: str
    arguments: tuple[Tree, ...]


Tree = Number | Name | Member | Item | Negative | Chain | Apply


class Expression(Struct, frozen=True, kw_only=True):
    """A checked expression; `key` is the key that it was given to, `names` the inputs that it speaks of."""

    key: str
    tree: Tree
    names: frozenset[str]


class _Token(Struct, frozen=True, kw_only=True):
    kind: str
    text: str
    column: int


def fault(key: str, column: int, what: str, hint: str = ALLOWED) -> ConfigError:
    """The error for an expression: `op.work.bytes, column 3: what`."""
    return ConfigError(f"{key}, column {column}: {what}", hint)


@functools.lru_cache(maxsize=64)
def parse(text: str, key: str) -> Expression:
    """The expression that `text` is. Raises ConfigError, in one line with the column, where it is none."""
    if len(text) > LENGTH_LIMIT:
        raise ConfigError(f"{key} has {len(text)} characters", f"at most {LENGTH_LIMIT} are read; write it shorter")
    return _Parser(_tokens(text, key), key).parsed()


def shown(text: str) -> str:
    """A stranger's text as a short piece of one line, its quotes around it."""
    return ascii(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def _tokens(text: str, key: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while place < len(text):
        if text[place] in _BLANKS:
            place += 1
            continue
        found = _TOKEN.match(text, place)
        if found is None:
            raise fault(key, place + 1, f"{shown(text[place])} cannot stand here")
        tokens.append(_Token(kind=found.lastgroup or "", text=found.group(), column=place + 1))
        place = found.end()
    return [*tokens, _Token(kind="end", text="", column=len(text) + 1)]


class _Parser:
    """Recursive descent: sum, product, sign, input with its parts, from the weakest to the strongest."""

    def __init__(self, tokens: list[_Token], key: str) -> None:
        self._tokens = tokens
        self._key = key
        self._next = 0
        self._depth = 0
        self._names: set[str] = set()

    def parsed(self) -> Expression:
        """The whole text as one expression."""
        tree = self._sum()
        if self._ahead.kind != "end":
            raise self._unexpected()
        return Expression(key=self._key, tree=tree, names=frozenset(self._names))

    @property
    def _ahead(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._ahead
        self._next += 1
        return token

    def _is(self, *signs: str) -> bool:
        return self._ahead.kind == "sign" and self._ahead.text in signs

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise self._unexpected(f", {sign} is missing")
        self._take()

    def _unexpected(self, wish: str = "") -> ConfigError:
        token = self._ahead
        what = "the expression ends too early" if token.kind == "end" else f"{shown(token.text)} cannot stand here"
        return fault(self._key, token.column, what + wish)

    def _sum(self) -> Tree:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/", "//"), self._signed))

    def _chain(self, signs: tuple[str, ...], operand: Callable[[], Tree]) -> Tree:
        first, links = operand(), []
        while self._is(*signs):
            sign = self._take()
            links.append(Link(column=sign.column, sign=sign.text, operand=operand()))
        return Chain(column=first.column, first=first, links=tuple(links)) if links else first

    def _signed(self) -> Tree:
        if not self._is("-"):
            return self._parts()
        column = self._take().column
        return Negative(column=column, of=self._deeper(self._signed))

    def _parts(self) -> Tree:
        tree, parts = self._primary(), 0
        while self._is(".", "["):
            parts += 1
            self._limited(parts)
            tree = self._member(tree) if self._take().text == "." else self._item(tree)
        return tree

    def _member(self, of: Tree) -> Tree:
        token = self._ahead
        if token.kind != "name" or token.text not in MEMBERS:
            raise self._unexpected()
        return Member(column=self._take().column, of=of, name=token.text)

    def _item(self, of: Tree) -> Tree:
        index = self._deeper(self._sum)
        self._expect("]")
        return Item(column=index.column, of=of, index=index)

    def _primary(self) -> Tree:
        if self._is("("):
            self._take()
            inner = self._deeper(self._sum)
            self._expect(")")
            return inner
        if self._ahead.kind == "number":
            return self._number(self._take())
        if self._ahead.kind != "name":
            raise self._unexpected()
        token = self._take()
        if self._is("("):
            return self._apply(token)
        self._names.add(token.text)
        return Name(column=token.column, name=token.text)

    def _number(self, token: _Token) -> Tree:
        value = int(token.text) if token.text.isdigit() else float(token.text)
        if value > LARGEST:
            raise fault(self._key, token.column, f"a number is larger than {LARGEST:g}")
        return Number(column=token.column, value=value)

    def _apply(self, name: _Token) -> Tree:
        if name.text not in FUNCTIONS:
            raise fault(self._key, name.column, f"there is no function {shown(name.text)}")
        self._take()
        arguments = [self._deeper(self._sum)]
        while self._is(","):
            self._take()
            arguments.append(self._deeper(self._sum))
        self._expect(")")
        return Apply(column=name.column, function=name.text, arguments=tuple(arguments))

    def _deeper(self, part: Callable[[], Tree]) -> Tree:
        self._depth += 1
        self._limited(self._depth)
        tree = part()
        self._depth -= 1
        return tree

    def _limited(self, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            raise fault(self._key, self._ahead.column, f"more than {DEPTH_LIMIT} levels lie in one another")
