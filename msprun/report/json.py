"""The whole result as JSON, for programs: `result.json` and `performance.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from msprun.model.measurement import Sample
from msprun.model.result import Result


def write(result: Result, samples: Sequence[Sample], lang: str) -> bytes:
    """The page, the same in every language; single samples are in samples.csv."""
    return dumps(result)


def dumps(value: Any) -> bytes:
    """Strict JSON of a Struct: its own key order, indent 2, non-ASCII kept.

    Raises ValueError where a number is NaN or infinite: missing is None, and msgspec would hide it as null.
    """
    built = msgspec.to_builtins(value, enc_hook=_word)
    _refuse_non_finite(built, "result")
    try:
        return msgspec.json.format(msgspec.json.encode(built), indent=2) + b"\n"
    except UnicodeEncodeError:
        # File names that are not UTF-8 hold lone surrogates; JSON can say them only as escapes.
        text = json.dumps(built, indent=2, ensure_ascii=False, allow_nan=False)
        return text.encode(errors="backslashreplace") + b"\n"


def ascii_text(value: Any, indent: int | None = None) -> str:
    """Strict JSON that survives the encoding of any terminal. Raises ValueError as `dumps` does."""
    return json.dumps(msgspec.to_builtins(value, enc_hook=_word), indent=indent, allow_nan=False)


def loads(data: bytes) -> Result:
    """The result of `dumps`. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(data, type=Result)


def _word(value: Any) -> str:
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} is no JSON")


def _refuse_non_finite(value: Any, where: str) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}, which JSON cannot say")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_non_finite(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_non_finite(item, f"{where}[{index}]")
