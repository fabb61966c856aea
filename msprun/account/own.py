"""The kernels that msprun itself launches, known again in the records by their shapes and by when they ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from msprun.account.stream import Flags
from msprun.model.call import DeviceCall, Identity, OwnKernel
from msprun.worker.protocol import BOOST_SIZE, SEPARATOR_SHAPE

_SQUARE = f"{BOOST_SIZE},{BOOST_SIZE}"
_BOOST_SHAPES = (_SQUARE, f"{_SQUARE};{_SQUARE}")
_SEPARATOR_SHAPES = ",".join(map(str, SEPARATOR_SHAPE))
_IDENTITY = ("name", "op_type", "Input Shapes")


def boosts(kernels: pd.DataFrame, calls: Sequence[DeviceCall]) -> tuple[OwnKernel, ...]:
    """The kernels of boosts in a KERNELS frame: those of their shapes that never start in a call of an operator.

    Their names differ from one CANN to the next; their shapes are a prime number of rows that hardly anybody has.
    """
    if "Input Shapes" not in kernels or not any(call.purpose == "boost" for call in calls):
        return ()
    shaped = kernels[kernels["Input Shapes"].astype(str).str.strip('"').isin(_BOOST_SHAPES)]
    theirs = set(_identities(shaped[_inside(shaped["start_ns"].to_numpy(np.int64), calls)]))
    found = dict.fromkeys(_identities(shaped))
    return tuple(OwnKernel(purpose="boost", identity=identity) for identity in found if identity not in theirs)


def separator(kernels: pd.DataFrame) -> Identity | None:
    """The kernel of separators in a KERNELS frame; None where no kernel has their shape, or more than one."""
    if "Input Shapes" not in kernels:
        return None
    found = tuple(_identities(kernels[kernels["Input Shapes"].astype(str).str.strip('"') == _SEPARATOR_SHAPES]))
    return found[0] if len(found) == 1 else None


def _identities(rows: pd.DataFrame) -> Iterator[Identity]:
    for name, op_type, shapes in rows[list(_IDENTITY)].drop_duplicates().itertuples(index=False):
        yield Identity(name=str(name), op_type=str(op_type), input_shapes=str(shapes).strip('"'))


def _inside(starts: np.ndarray, calls: Sequence[DeviceCall]) -> Flags:
    """Which of these times lie in a call of an operator, by the host's clock."""
    sides = [call for call in calls if call.side is not None]
    begin = np.array([call.start_ns for call in sides], dtype=np.int64)
    end = np.array([call.end_ns for call in sides], dtype=np.int64)
    place = np.searchsorted(begin, starts, side="right") - 1
    known = place >= 0
    found = np.zeros(len(starts), dtype=bool)
    found[known] = starts[known] <= end[place[known]]
    return found
