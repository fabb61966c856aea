"""Every option of every group in conf/ composes into a request that is fine."""

from __future__ import annotations

import pytest

from msprun import config, search
from msprun.resources import data_folder, data_root
from tests.asked import Asked, stand_in

CONF = data_folder("conf")
SWEEPS = ("sweep", "nightly")
OPTIONS = [
    (group, option) for group, options in search.options([CONF]).items() for option in options if option not in SWEEPS
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return stand_in(monkeypatch)


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=[f"{group}={option}" for group, option in OPTIONS])
def test_every_option_composes(asked: Asked, group: str, option: str) -> None:
    value = f"[{option}]" if group == "report" else option
    assert asked.invocation(f"{group}={value}").choices[group] == option


@pytest.mark.parametrize("option", search.options([CONF])["op"])
def test_every_operator_has_its_folder(asked: Asked, option: str) -> None:
    run = asked.run(f"op={option}")
    assert run.op.dir == str(data_root() / "examples" / option)
    assert run.op.name == option


def test_every_option_says_what_it_is() -> None:
    options = search.options([CONF])
    mute = [
        f"{group}={name}"
        for group in options
        for name in options[group]
        if not search.description(options[group][name])
    ]
    assert mute == []


def test_the_primary_config_knows_every_key_of_the_schema(asked: Asked) -> None:
    assert set(config.raw_file(CONF / "msprun.yaml")) - {"defaults", "hydra"} <= set(config.schema_keys())


def test_smoke_makes_few_calls_of_few_cases(asked: Asked) -> None:
    run = asked.run("experiment=smoke")
    assert (run.warmup, run.repeats, run.max_cases) == (2, 6, 3)


def test_thorough_takes_longer_and_is_stricter(asked: Asked) -> None:
    run = asked.run("experiment=thorough")
    assert (run.budget_s, run.check.level) == (10.0, "L2")


def test_sweep_walks_repeats_and_seeds_without_a_flag(asked: Asked) -> None:
    assert asked("experiment=sweep") == 0
    seen = [(run.op.name, run.repeats, run.seed, run.max_cases) for run, _ in asked.requests]
    assert seen == [("add", repeats, seed, 3) for repeats in (6, 12, 24) for seed in (0, 1, 2)]


def test_nightly_walks_every_packaged_operator_as_thorough_does(asked: Asked) -> None:
    assert asked("experiment=nightly") == 0
    assert [run.op.name for run, _ in asked.requests] == list(search.options([CONF])["op"])
    seen = {(run.budget_s, run.check.level, *run.pages) for run, _ in asked.requests}
    assert seen == {(10.0, "L2", "json", "markdown")}


def test_the_command_line_narrows_an_experiments_sweep(asked: Asked) -> None:
    assert asked("experiment=nightly", "op=softmax") == 0
    assert [run.op.name for run, _ in asked.requests] == ["softmax"]
