"""What caches hold before a call, and what the clock leaves out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from msprun.worker.borders import Plain
from msprun.worker.cache import Flush, Rotate, llc_bytes
from msprun.worker.device import Host

MODEL = """
seen = []
class Model(nn.Module):
    def forward(self, x, y):
        seen.append((x.data_ptr(), x.sum().item()))
        return x + y
def get_inputs():
    return [torch.ones(256, 256), torch.ones(256, 256)]
"""
IN_PLACE = MODEL.replace("return x + y", "return x.add_(y)")


def ready(bench: Any, cache: str, model: str = MODEL) -> Any:
    bench.write(model, model.split("def get_inputs")[0].replace("Model", "ModelNew"))
    session = bench.session(cache=cache)
    session.load(0)
    for side in ("reference", "candidate"):
        session.construct(0, side)
        session.first(0, side)
        seen(side).clear()
    return session


def seen(side: str) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = sys.modules["model" if side == "reference" else "model_new_ascendc"].seen
    return found


@pytest.mark.parametrize(
    ("each", "llc", "sets"),
    [
        (1 << 20, 8 << 20, 32),  # 4 x 8 MB / 1 MB
        (3 << 20, 8 << 20, 11),  # rounded up
        (1 << 10, 8 << 20, 64),  # at most 64
        (200 << 20, 300 << 20, 2),  # 512 MB hold two of 200 MB
        (1 << 30, 8 << 20, 2),  # never fewer than two
        (1 << 20, None, 64),  # a cache that is not known counts as 32 MB
        (0, 8 << 20, 64),
    ],
)
def test_the_number_of_sets(each: int, llc: int | None, sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("msprun.worker.cache.input_bytes", lambda case: each)
    assert Rotate(llc, None).facts(None) == {"sets": sets, "bytes": sets * each, "llc_bytes": llc}


def test_rotation_walks_the_same_sets_call_by_call_for_both_sides(bench: Any) -> None:
    session = ready(bench, "rotate")
    sets = session.cache_facts(0)["sets"]
    session.time(0, [["reference", 2], ["candidate", sets], ["reference", sets - 2]])
    first, other = seen("reference"), seen("candidate")
    assert len({place for place, _ in first}) == sets and {p for p, _ in first} == {p for p, _ in other}
    assert other[0][0] == first[2][0] and other[-2:] == first[:2]
    assert session.cases[0].tensors[0][1].data_ptr() == first[0][0]


def test_rotated_copies_of_an_in_place_operator_are_fresh_every_time(bench: Any) -> None:
    """flagos-ai/FlagGems#1227: without copies an in-place operator changes its input on each call."""
    session = ready(bench, "rotate", IN_PLACE)
    sets = session.cache_facts(0)["sets"]
    session.time(0, [["candidate", 2 * sets], ["reference", 3]])
    assert {total for _, total in seen("candidate") + seen("reference")} == {65536.0}
    assert session.cases[0].tensors[0][1].sum().item() == 65536


def test_rotated_copies_keep_their_strides(bench: Any) -> None:
    model = MODEL.replace("x.sum().item()", "x.stride()").replace(
        "torch.ones(256, 256), ", "torch.ones(256, 512)[:, ::2], "
    )
    session = ready(bench, "rotate", model)
    session.time(0, [["candidate", 5]])
    assert {stride for _, stride in seen("candidate")} == {(512, 2)}


@pytest.mark.parametrize("model", [MODEL, IN_PLACE])
def test_flushing_reads_a_buffer_of_twice_the_cache_before_each_call_and_outside_the_borders(
    bench: Any, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tile-ai/TileOPs#1725: the flush was inside the timed window."""
    session = ready(bench, "flush", model)
    read = []

    class Slow:
        def sum(self) -> None:
            import time

            read.append(1)
            time.sleep(0.02)

    monkeypatch.setattr(session.cache, "buffer", Slow())
    elapsed = session.time(0, [["candidate", 1], ["reference", 1], ["candidate", 1]])["elapsed_ns"]
    assert len(read) == 3 and min(elapsed) < 20e6
    assert {total for _, total in seen("candidate")} == {65536.0}


def test_the_flush_buffer_and_its_facts(bench: Any) -> None:
    assert Flush(8 << 20, Plain(Host(None))).buffer.numel() * 4 == 16 << 20
    assert Flush(None, Plain(Host(None))).buffer.numel() * 4 == 64 << 20
    session = ready(bench, "flush")
    facts = session.cache_facts(0)
    assert facts["sets"] == 1 and facts["bytes"] == session.cache.buffer.numel() * 4


def test_warm_facts_are_the_inputs_and_the_environment_names_the_policy(bench: Any) -> None:
    session = ready(bench, "warm")
    assert session.cache_facts(0)["bytes"] == 2 * 256 * 256 * 4 and session.cache_facts(0)["sets"] == 1
    assert session.environment()["cache"] == "warm"


def test_the_last_level_cache_is_that_of_the_highest_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {3, 5}, raising=False)
    for index, (level, size) in enumerate((("1", "32K"), ("1", "32K"), ("2", "1024K"), ("3", "36608K"))):
        folder = tmp_path / "cpu3" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        (folder / "level").write_text(level + "\n")
        (folder / "size").write_text(size + "\n")
    assert llc_bytes(str(tmp_path)) == 36608 * 1024
    assert llc_bytes(str(tmp_path / "nothing")) is None


def test_release_lets_go_of_the_copies(bench: Any) -> None:
    session = ready(bench, "rotate")
    session.time(0, [["candidate", 1]])
    assert session.cases[0].rotation is not None and isinstance(session.cases[0].tensors[0][1], torch.Tensor)
    session.release(0)
    assert session.cases == {}
