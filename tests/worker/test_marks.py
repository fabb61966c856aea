"""Markers of torch_npu: every version of its interface is met, and what does not answer has a reason."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from msprun.worker.collector import options
from msprun.worker.marks import TorchMarks

STREAM = object()


class Listener:
    """What torch_npu was told; a range that it takes has an id, 0 where it does not listen."""

    def __init__(self, *, is_listening: bool = True) -> None:
        self.is_listening = is_listening
        self.told: list[Any] = []

    def tell(self, *what: Any) -> int:
        self.told.append(what)
        return len(self.told) if self.is_listening else 0


def today(listener: Listener) -> SimpleNamespace:
    """Ranges with domains."""

    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        return listener.tell("start", message, stream, domain)

    def range_end(range_id: int, domain: str = "default") -> None:
        listener.tell("end", range_id, domain)

    return SimpleNamespace(range_start=range_start, range_end=range_end)


def old(listener: Listener) -> SimpleNamespace:
    """Ranges as they began: no domain, and 0 for what is no stream."""

    def range_start(message: str, stream: Any = None) -> int:
        return listener.tell("start", message, stream) if stream is STREAM else 0

    def range_end(range_id: int) -> None:
        listener.tell("end", range_id)

    return SimpleNamespace(range_start=range_start, range_end=range_end)


def probed(monkeypatch: pytest.MonkeyPatch, torch_npu: Any, stream: Any = STREAM) -> TorchMarks:
    monkeypatch.setitem(sys.modules, "torch_npu", torch_npu)
    made = TorchMarks(lambda: stream)
    made.probe()
    return made


def with_mstx(mstx: Any) -> SimpleNamespace:
    return SimpleNamespace(npu=SimpleNamespace(mstx=mstx))


def test_there_are_none_before_the_profiler_runs() -> None:
    assert TorchMarks(lambda: STREAM).why == "torch_npu.profiler has not begun"


def test_ranges_lie_on_the_stream_in_a_domain_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    made = probed(monkeypatch, with_mstx(today(listener)))
    assert made.why is None
    made.end(made.start(7))
    assert listener.told == [
        ("start", "mr|probe", STREAM, "msprun"),
        ("end", 1, "msprun"),
        ("start", "mr|7", STREAM, "msprun"),
        ("end", 3, "msprun"),
    ]


def test_a_version_that_knows_no_domain_is_asked_without(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    made = probed(monkeypatch, with_mstx(old(listener)))
    assert made.why is None
    made.end(made.start(7))
    assert listener.told == [("start", "mr|probe", STREAM), ("end", 1), ("start", "mr|7", STREAM), ("end", 3)]


@pytest.mark.parametrize("version", [today, old])
def test_an_id_of_0_means_that_nobody_listens(version: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = probed(monkeypatch, with_mstx(version(Listener(is_listening=False))))
    assert made.why == "torch_npu.npu.mstx.range_start answered 0: no profiler listens"


def test_a_torch_npu_without_markers_or_with_broken_ones_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> int:
        raise RuntimeError("no such symbol")

    before = probed(monkeypatch, SimpleNamespace(npu=SimpleNamespace())).why
    assert before is not None and before.startswith("torch_npu.npu.mstx: AttributeError")
    made = probed(monkeypatch, with_mstx(SimpleNamespace(range_start=broken, range_end=broken)))
    assert made.why == "torch_npu.npu.mstx: RuntimeError: no such symbol"


def profiler(*known: str) -> SimpleNamespace:
    """torch_npu.profiler whose configuration takes these names for markers, and never leaves the counters out."""

    def config(aic_metrics: str = "none", **words: Any) -> SimpleNamespace:
        unknown = words.keys() - {"profiler_level", "data_simplification", *known}
        if unknown:
            raise TypeError(f"__init__() got an unexpected keyword argument {unknown.pop()!r}")
        return SimpleNamespace(words=words, _aic_metrics="PipeUtilization" if aic_metrics == "none" else aic_metrics)

    return SimpleNamespace(
        _ExperimentalConfig=config,
        ProfilerLevel=SimpleNamespace(Level1="Level1"),
        AiCMetrics=SimpleNamespace(AiCoreNone="none"),
    )


@pytest.mark.parametrize(
    ("known", "marked"),
    [
        (("mstx", "msprof_tx"), {"mstx": True}),
        (("msprof_tx",), {"msprof_tx": True}),
        ((), {}),
    ],
)
def test_the_profiler_is_asked_for_markers_by_the_name_that_it_knows(known: Any, marked: dict[str, bool]) -> None:
    made = options(profiler(*known))
    assert made.words == {"profiler_level": "Level1", "data_simplification": False, **marked}
    assert made._aic_metrics == "none"
