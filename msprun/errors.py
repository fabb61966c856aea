"""The exceptions that become one line and an exit code."""

from __future__ import annotations


class MsprunError(Exception):
    """Something that a user can cause: `message` says what is wrong, `hint` what to type next.

    `word` is the wrong word of the command line, if it is one, as Hydra read it.
    """

    def __init__(self, message: str, hint: str | None = None, word: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.word = word


class ConfigError(MsprunError):
    """The request makes no sense; nothing was measured (exit 2)."""


class MachineError(MsprunError):
    """The request is fine but this machine cannot serve it; nothing was measured (exit 2)."""
