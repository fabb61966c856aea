"""The schema and the checks of a request's values."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path

import pytest
from omegaconf import MISSING, OmegaConf

from msprun import config, schema, suggest
from msprun.errors import ConfigError
from msprun.keywords import KEYWORDS
from msprun.resources import data_folder
from tests.asked import write


def composed() -> schema.Run:
    """A request whose values are all fine."""
    clock = OmegaConf.load(data_folder("conf") / "profiler" / "clock.yaml")
    check = OmegaConf.load(data_folder("conf") / "check" / "default.yaml")
    primary = OmegaConf.load(data_folder("conf") / "msprun.yaml")
    for key in ("defaults", "hydra"):
        del primary[key]
    rest = {"profiler": clock, "check": check, "device": {"kind": "cpu", "threads": 1}, "pages": {}}
    return config.checked(OmegaConf.merge(primary, rest, {"op": {"dir": "/x", "name": "x"}}))  # type: ignore[arg-type]


def test_the_schema_holds_no_default() -> None:
    def fields(cls: type) -> list[dataclasses.Field[object]]:
        found = list(dataclasses.fields(cls))
        for hint in typing.get_type_hints(cls).values():
            found += fields(hint) if dataclasses.is_dataclass(hint) else []
        return found

    assert {field.default for field in fields(schema.Run)} == {MISSING}


def test_the_packaged_values_are_fine() -> None:
    run = composed()
    assert (run.warmup, run.seed, run.profiler.visits, run.check.level) == ("auto", 0, 6, "L0")


LOW = {**config._AT_LEAST, "warmup": 0, "repeats": 1}


@pytest.mark.parametrize(("key", "low"), LOW.items())
def test_a_count_starts_at_its_least_value(key: str, low: float) -> None:
    run = composed()
    assign(run, key, low)
    if key in ("profiler.quads_max", "profiler.warmup_max"):
        assign(run, key.replace("max", "min"), low)
    config.check_values(run)
    assign(run, key, low - 1)
    with pytest.raises(ConfigError, match=rf"{key}=.* is out of range"):
        config.check_values(run)


@pytest.mark.parametrize("key", config._ABOVE_ZERO)
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_is_more_than_nothing_and_ends(key: str, value: float) -> None:
    run = composed()
    assign(run, key, value)
    with pytest.raises(ConfigError, match=f"{key}={value} is out of range"):
        config.check_values(run)


@pytest.mark.parametrize(("key", "words"), KEYWORDS.items())
def test_a_word_is_one_of_those_known(key: str, words: tuple[str, ...]) -> None:
    run = composed()
    for word in words:
        assign(run, key, word)
        config.check_values(run)
    assign(run, key, "nonsense")
    with pytest.raises(ConfigError, match=f"there is no {key}=nonsense"):
        config.check_values(run)


@pytest.mark.parametrize("key", ["max_cases", "keep_runs", "time_limit_s", "prof_tag", "check.rtol", "op.check.atol"])
def test_null_means_no_limit(key: str) -> None:
    run = composed()
    assign(run, key, None)
    config.check_values(run)


def test_counts_may_come_as_text() -> None:
    run = composed()
    run.warmup = "5"
    config.check_values(run)
    assert run.warmup == 5


@pytest.mark.parametrize("cases", [None, 0, "name", [0, 2], ["a", 1]])
def test_cases_are_an_index_a_name_or_a_list(cases: object) -> None:
    run = composed()
    run.cases = cases
    config.check_values(run)


@pytest.mark.parametrize("cases", [[], -1, [0, -1], 1.5, True, [None], {"a": 1}, "", [[0]]])
def test_other_cases_are_refused(cases: object) -> None:
    run = composed()
    run.cases = cases
    with pytest.raises(ConfigError, match="^cases="):
        config.check_values(run)


@pytest.mark.parametrize(("said", "meant"), [("auto", "auto"), (True, True), (False, False), ("true", True)])
def test_save_to_op_is_auto_or_a_switch(said: object, meant: object) -> None:
    run = composed()
    run.save_to_op = said
    config.check_values(run)
    assert run.save_to_op is meant or run.save_to_op == meant == "auto"


@pytest.mark.parametrize("tag", ["a", "A-1_b.c", "1", "a..b", "_"])
def test_a_tag_may_be_part_of_a_name(tag: str) -> None:
    run = composed()
    run.prof_tag = tag
    config.check_values(run)


@pytest.mark.parametrize("tag", ["", ".", "..", "-a", "a/b", "../x", "a b", "ä", "a\n", "a\0"])
def test_other_tags_are_refused(tag: str) -> None:
    run = composed()
    run.prof_tag = tag
    with pytest.raises(ConfigError, match="^prof_tag="):
        config.check_values(run)


def test_missing_keys_are_listed() -> None:
    cfg = OmegaConf.create(dataclasses.asdict(composed()))
    cfg.seed = cfg.op.dir = MISSING
    with pytest.raises(ConfigError, match="^no value for op.dir, seed$"):
        config.checked(cfg)


def test_unknown_keys_are_found_at_every_depth_but_not_in_free_tables() -> None:
    cfg = OmegaConf.create({"foo": 1, "op": {"bar": 2, "reference": {"env": {"ANY": "1"}}}, "pages": {"x": {}}})
    assert config.unknown_keys(cfg) == ["foo", "op.bar"]


def test_with_option_fills_what_is_missing_and_replaces_the_kind(tmp_path: Path) -> None:
    write(tmp_path / "device" / "npu.yaml", "kind: npu\nthreads: 7\n")
    cfg = OmegaConf.create({"device": {"kind": "auto", "threads": MISSING}})
    config.with_option(cfg, "device", "npu", [tmp_path / "nowhere", tmp_path])
    assert cfg == {"device": {"kind": "npu", "threads": 7}}
    cfg = OmegaConf.create({"device": {"kind": "auto", "threads": 1}})
    config.with_option(cfg, "device", "npu", [tmp_path])
    assert cfg == {"device": {"kind": "npu", "threads": 1}}


def test_schema_keys_are_dotted() -> None:
    assert {"op", "op.reference.file", "check.level", "warmup"} <= set(config.schema_keys())


@pytest.mark.parametrize(
    ("word", "meant"), [("warmpu", "warmup"), ("WARMUP", "warmup"), ("ad", "add"), ("npu", None), ("xyz", None)]
)
def test_the_closest_word(word: str, meant: str | None) -> None:
    assert suggest.closest(word, ["warmup", "add", "cpu"]) == meant


def test_errors_of_the_system_become_one_line() -> None:
    error = FileNotFoundError(2, "No such file or directory", "/x")
    assert suggest.translated(error, ()).message == "[Errno 2] No such file or directory: '/x'"
    assert suggest.translated(RuntimeError(), ()).message == "RuntimeError"


def assign(run: schema.Run, key: str, value: object) -> None:
    *path, last = key.split(".")
    node: object = run
    for name in path:
        node = getattr(node, name)
    setattr(node, last, value)
