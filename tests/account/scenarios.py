"""Random streams of kernels whose truth is known: fifteen ways in which a session may look."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msprun.account.markers import Marker
from msprun.account.stream import AI_CPU, COMPUTE, COPY, Kernel, Stream
from tests.account.streams import Recording

Kernels = list[tuple[str, float]]
_ROLES = {"compute": COMPUTE, "ai_cpu": AI_CPU, "copy": COPY}


class Play:
    """One random session: an operator of 1 to 6 kernels a side, and what happens around and in its calls."""

    def __init__(self, seed: str, rest_us: float) -> None:
        self.random = random.Random(seed)
        self.recording = Recording(rest_us)
        self.calls = self.random.randint(6, 14)
        self.sides = ["reference", "candidate"][: self.random.randint(1, 2)]
        self.base = {side: self.kernels(self.random.randint(1, 6), side) for side in self.sides}
        self.dropped = 0.0

    def kernels(self, count: int, prefix: str) -> Kernels:
        """Kernels of an operator, some of one name."""
        return [(f"{prefix}{self.random.randint(0, 3)}", self.random.uniform(2, 60)) for _ in range(count)]

    def noisy(self, kernels: Kernels) -> Kernels:
        return [(name, us * self.random.gauss(1, 0.01)) for name, us in kernels]

    def before(self, kernels: Kernels) -> None:
        """A prologue, and a rest behind it."""
        for name, us in kernels:
            self.recording.work([(name, us)], inner_us=self.random.choice([1.0, 5.0, 400.0]))
        self.recording.rest()

    def run(self, change: Callable[[int, Kernels], Kernels] = lambda number, kernels: kernels) -> None:
        """All calls of all sides, A B B A; `change` says what the n-th call of a side runs."""
        places = dict.fromkeys(self.sides, 0)
        for number in range(self.calls * len(self.sides)):
            side = (self.sides + self.sides[::-1])[number % (2 * len(self.sides))]
            kernels = change(places[side], self.base[side])
            purpose = ("first", "warmup")[places[side]] if places[side] < 2 else "timed"
            more = {"inner_us": self.random.uniform(1, 2), "launch_us": self.random.uniform(8, 20)}
            rest_us = self.recording.rest_us * self.random.uniform(1.02, 1.2)
            self.recording.call(0, side, purpose, self.noisy(kernels), rest_us=rest_us, **more)
            places[side] += 1

    def stream(self, offset_us: float = 0.0) -> Stream:
        """The rows, less those that are dropped, on a clock that is off by so much."""
        picked = random.Random(self.calls)
        rows = [row for row in self.recording.rows if picked.random() >= self.dropped]
        rows.sort(key=lambda row: row["start_ns"])
        names = sorted({row["name"] for row in rows})
        return Stream(
            start=_whole(row["start_ns"] + round(offset_us * 1000) for row in rows),
            duration=_whole(row["duration_ns"] for row in rows),
            role=_whole(_ROLES[row["kind"]] for row in rows),
            code=_whole(names.index(row["name"]) for row in rows),
            device=_whole(0 for _ in rows),
            what=tuple(
                Kernel(name=name, op_type=name, input_shapes="8", task_kind="AI_CORE", block_num=8) for name in names
            ),
        )

    def markers(self) -> tuple[Marker, ...]:
        names = ("start_ns", "end_ns", "device_start_ns", "device_end_ns")
        return tuple(
            Marker(message=mark["message"], number=place, host=(times[0], times[1]), device=(times[2], times[3]))
            for place, mark in enumerate(self.recording.marks)
            for times in [[mark[name] for name in names]]
        )


def clean(play: Play) -> None:
    play.run()


def prologue(play: Play) -> None:
    play.before(play.kernels(play.random.randint(1, 9), "init"))
    play.run()


def prologue_that_divides(play: Play) -> None:
    play.before(play.kernels(play.calls * play.random.randint(1, 2), "init"))
    play.run()


def prologue_that_ends_like_a_call(play: Play) -> None:
    own = play.base[play.sides[0]]
    play.before(play.kernels(3, "init") + own[-play.random.randint(1, len(own)) :])
    play.run()


def one_kernel_and_a_foreign_prologue(play: Play) -> None:
    play.base = {side: play.kernels(1, side) for side in play.sides}
    play.before(play.kernels(play.random.randint(1, 9), "init"))
    play.run()


def one_kernel_and_a_prologue_of_it(play: Play) -> None:
    play.base = {side: play.kernels(1, side) for side in play.sides}
    play.before([(play.base[play.sides[0]][0][0], 5 * us) for _, us in play.kernels(play.random.randint(1, 9), "")])
    play.run()


def prologue_of_whole_calls(play: Play) -> None:
    play.before([(name, 3 * us) for name, us in play.base[play.sides[-1]]] * play.random.randint(1, 3))
    play.run()


def prologue_of_as_many_calls(play: Play) -> None:
    play.before([(name, 3 * us) for name, us in play.base[play.sides[-1]]] * play.calls)
    play.run()


def calls_that_repeat_themselves(play: Play) -> None:
    play.base = {side: play.kernels(2, side) * 2 for side in play.sides}
    play.run()


def dropped_rows(play: Play) -> None:
    play.dropped = 0.02
    play.run()


def more_in_the_first_call(play: Play) -> None:
    extra = play.kernels(play.random.randint(1, 4), "setup")
    play.run(lambda number, kernels: extra + kernels if number == 0 else kernels)


def more_at_random(play: Play) -> None:
    play.run(lambda number, kernels: kernels + play.kernels(1, "odd") if play.random.random() < 0.2 else kernels)


def variants_in_turn(play: Play) -> None:
    other = play.kernels(2, "variant")
    play.run(lambda number, kernels: kernels + other if number % 2 else kernels)


def order_that_varies(play: Play) -> None:
    play.run(lambda number, kernels: play.random.sample(kernels, len(kernels)))


def epilogue(play: Play) -> None:
    play.run()
    play.recording.rest()
    play.recording.work(play.kernels(play.random.randint(1, 5), "end"))


SCENARIOS: Sequence[Any] = (
    clean, prologue, prologue_that_divides, prologue_that_ends_like_a_call, one_kernel_and_a_foreign_prologue,
    one_kernel_and_a_prologue_of_it, prologue_of_whole_calls, prologue_of_as_many_calls, calls_that_repeat_themselves,
    dropped_rows, more_in_the_first_call, more_at_random, variants_in_turn, order_that_varies, epilogue,
)  # fmt: skip


def _whole(numbers: Any) -> Any:
    return np.fromiter(numbers, dtype=np.int64)
