"""The words that cases files use for types."""

from __future__ import annotations

_SYNONYMS = {
    "float16": ("fp16", "half"),
    "float32": ("fp32", "float"),
    "float64": ("fp64",),
    "bfloat16": ("bf16",),
    "int32": ("int",),
    "int64": ("long",),
}
_OWN_NAMES = (
    "float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
)  # fmt: skip

TENSOR_DTYPES = {name: name for name in _OWN_NAMES} | {
    word: name for name, words in _SYNONYMS.items() for word in words
}
SCALAR_WORDS = frozenset(TENSOR_DTYPES) | {"str", "string", "list", "complex"}

# The names that an attribute of dtype `str` turns into a torch dtype object.
DTYPE_OBJECTS = frozenset(
    ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
)


def integer_range(dtype: str) -> tuple[int, int] | None:
    """The least and the greatest value of a canonical integer dtype; None for other types."""
    unsigned = dtype.startswith("uint")
    if not unsigned and not dtype.startswith("int"):
        return None
    bits = int(dtype.removeprefix("u").removeprefix("int"))
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
