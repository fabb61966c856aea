"""A table reads back as it was, however it is written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msprun.reader import op_summary, sieve
from msprun.reader.reading import Reading

# No commas, quotes and line ends: those have their own strategies below.
PLAIN = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters=',"'), min_size=1
)
NAMES = PLAIN.map(str.strip).filter(lambda name: name not in ("", "N/A", "NA"))
# What msprof writes for C++: commas inside brackets only.
SYMBOLS = st.builds("{}<{}, {}>({}*, int)".format, *[st.from_regex(r"[a-z_]{1,8}", fullmatch=True)] * 4)
KINDS = st.sampled_from(["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU", "COMMUNICATION"])


class Kernel(NamedTuple):
    """The truth of a row; None is N/A."""

    name: str | None
    op_type: str | None
    task_kind: str
    start_ns: int
    duration_ns: int
    stream: int | None
    block_num: int | None
    shapes: str | None
    ratio: float | None


KERNELS = st.builds(
    Kernel,
    name=st.none() | NAMES,
    op_type=st.none() | NAMES,
    task_kind=KINDS,
    start_ns=st.integers(0, 4 * 10**18),
    duration_ns=st.integers(0, 3600 * 10**9),
    stream=st.none() | st.integers(0, 2**32 - 1),
    block_num=st.none() | st.integers(0, 65535),
    shapes=st.none() | st.lists(st.integers(1, 10**6), max_size=4).map(lambda shape: ",".join(map(str, shape))),
    ratio=st.none() | st.integers(0, 1000).map(lambda value: value / 1000),
)


class Quirks(NamedTuple):
    """How a table is written down."""

    end: str
    bom: str
    missing: str
    tab: str
    are_times_quoted: bool
    are_shapes_tripled: bool
    is_whole_short: bool
    names: tuple[str, ...]
    last: str
    comma: str
    order: tuple[int, ...]


HEADS = st.tuples(
    st.sampled_from(["Op Name", "op_name", "OP Name"]),
    st.sampled_from(["OP Type", "Op Type"]),
    st.sampled_from(["Task Type", "task_type"]),
    st.sampled_from(["Task Start Time(us)", "Start Time(us)", "Task Start Time", "Start_time(us)"]),
    st.sampled_from(["Task Duration(us)", "task_duration(us)"]),
    st.sampled_from(["Stream ID", "stream_id", "Stream Id"]),
    st.sampled_from(["Block Dim", "Block Num", "block_dim"]),
    st.sampled_from(["Input Shapes", "input_shapes"]),
    st.just("aic_mac_ratio"),
)
_QUIRKS = st.builds(
    Quirks,
    end=st.sampled_from(["\n", "\r\n", "\r\r\n"]),
    bom=st.sampled_from(["", "\ufeff"]),
    missing=st.sampled_from(["N/A", "NA", ""]),
    tab=st.sampled_from(["", "\t"]),
    are_times_quoted=st.booleans(),
    are_shapes_tripled=st.booleans(),
    is_whole_short=st.booleans(),
    names=HEADS,
    last=st.sampled_from(["", "end"]),
    comma=st.sampled_from(["", ","]),
    order=st.permutations(range(9)).map(tuple),
)
# A file that ends in a cell may be cut off there, which has a test of its own: here nobody needs the last cell.
QUIRKS = _QUIRKS.map(lambda q: q if q.last or q.comma or q.order[-1] == 8 else q._replace(last="end"))


def written(kernels: list[Kernel], quirks: Quirks) -> bytes:
    """The table as text, put together without any CSV library."""
    lines = [[quirks.names[place] for place in quirks.order]]
    lines += [[cells(kernel, quirks)[place] for place in quirks.order] for kernel in kernels]
    table = quirks.end.join(",".join(line) + quirks.comma for line in lines)
    return (quirks.bom + table + (quirks.end if quirks.last else "")).encode()


def cells(kernel: Kernel, quirks: Quirks) -> list[str]:
    shapes = quirks.missing
    if kernel.shapes is not None:
        shapes = f'"""{kernel.shapes}"""' if quirks.are_shapes_tripled else f'"{kernel.shapes}"'
    found = [
        quirks.missing if kernel.name is None else kernel.name,
        quirks.missing if kernel.op_type is None else kernel.op_type,
        kernel.task_kind,
        time(kernel.start_ns, quirks),
        time(kernel.duration_ns, quirks),
        quirks.missing if kernel.stream is None else str(kernel.stream),
        quirks.missing if kernel.block_num is None else str(kernel.block_num),
        shapes,
        quirks.missing if kernel.ratio is None else f"{kernel.ratio:.3f}",
    ]
    return found


def time(ns: int, quirks: Quirks) -> str:
    us, rest = divmod(ns, 1000)
    cell = f"{us}" if rest == 0 and quirks.is_whole_short else f"{us}.{rest:03d}"
    return f'"{cell}{quirks.tab}"' if quirks.are_times_quoted else f"{cell}{quirks.tab}"


@pytest.fixture(scope="module", params=[1 << 20, 90], ids=["one block", "many blocks"])
def block(request: pytest.FixtureRequest) -> Iterator[None]:
    """The sieve looks at whole blocks: everything in one, and about a row in each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sieve, "BLOCK_BYTES", request.param)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "op_summary_20260605161737.csv"


def rows(reading: Reading) -> list[Kernel]:
    """What was read, as the truth is written down."""
    frame = reading.frame
    columns = ["name", "op_type", "task_kind", "start_ns", "duration_ns", "stream", "block_num", "Input Shapes"]
    plain = frame[columns].astype(object)
    plain["ratio"] = frame["aic_mac_ratio"].astype(object)
    return [Kernel(*row) for row in plain.where(plain.notna(), None).itertuples(index=False)]


def by_start(kernels: list[Kernel]) -> list[Kernel]:
    return sorted(kernels, key=lambda kernel: kernel.start_ns)


@settings(max_examples=60)
@given(kernels=st.lists(KERNELS, min_size=1, max_size=6), quirks=QUIRKS)
def test_whatever_the_spelling(place: Path, kernels: list[Kernel], quirks: Quirks) -> None:
    place.write_bytes(written(kernels, quirks))
    reading = op_summary.read(place.parent)
    assert reading.complaints == ()
    assert rows(reading) == by_start(kernels)


@settings(max_examples=40)
@given(
    kernels=st.lists(KERNELS, min_size=1, max_size=5),
    quirks=QUIRKS.map(lambda quirks: quirks._replace(order=tuple(range(9)), comma="")),
    symbol=SYMBOLS,
    is_type=st.booleans(),
    at=st.integers(0, 4),
)
def test_whatever_a_name_with_commas_does(
    block: None, place: Path, kernels: list[Kernel], quirks: Quirks, symbol: str, is_type: bool, at: int
) -> None:
    chosen = min(at, len(kernels) - 1)
    kernels[chosen] = kernels[chosen]._replace(name=symbol, op_type=symbol if is_type else "Scale")
    place.write_bytes(written(kernels, quirks))
    reading = op_summary.read(place.parent)
    assert [c.code for c in reading.complaints] == ["mended"]
    assert rows(reading) == by_start(kernels)


@settings(max_examples=40)
@given(kernels=st.lists(KERNELS, min_size=2, max_size=6), quirks=QUIRKS, cut=st.integers(0, 10**6))
def test_a_file_cut_off_anywhere_loses_its_end_alone(
    block: None, place: Path, kernels: list[Kernel], quirks: Quirks, cut: int
) -> None:
    # A column behind all others: the cut is in the row, not behind it.
    kernels = by_start(kernels)
    whole = written(kernels, quirks._replace(comma="", last="end"))
    end = quirks.end.encode()
    place.write_bytes(whole[: len(whole) - 1 - cut % (len(whole) - 1)])
    left = place.read_bytes().count(end)
    reading = op_summary.read(place.parent)
    kept = rows(reading) if left else []
    assert kept[: max(0, left - 1)] == kernels[: max(0, left - 1)]
    assert len(kept) <= left


@settings(max_examples=60)
@given(noise=st.binary(max_size=400), kernels=st.lists(KERNELS, min_size=1, max_size=3), quirks=QUIRKS)
def test_noise_is_never_an_exception(
    block: None, place: Path, noise: bytes, kernels: list[Kernel], quirks: Quirks
) -> None:
    whole = written(kernels, quirks)
    middle = len(noise) % len(whole)
    for content in (noise, whole[:middle] + noise + whole[middle:]):
        place.write_bytes(content)
        reading = op_summary.read(place.parent)
        assert reading.files == (place,)
        assert (reading.frame["duration_ns"] >= 0).all()
