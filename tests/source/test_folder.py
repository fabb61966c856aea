"""Operator folders as checked values."""

import json

import pytest

from msprun.errors import ConfigError
from msprun.model.operator import Implementation
from msprun.schema import Op, OpCheck, OpWork, Side
from msprun.source.folder import load_operator


def request(folder, **changes):
    values = {
        "dir": str(folder),
        "name": None,
        "reference": Side(file="model.py", cls="Model", env={}),
        "candidate": Side(file="model_new_ascendc.py", cls="ModelNew", env={"B": "2", "A": "1"}),
        "cases_file": None,
        "build": None,
        "check": OpCheck(rtol=None, atol=None, threshold=None, compare=None),
        "work": OpWork(bytes=None, flops=None),
    }
    return Op(**{**values, **changes})


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "my_op"
    made.mkdir()
    (made / "model.py").write_text("class Model: ...\n")
    (made / "model_new_ascendc.py").write_text("class ModelNew: ...\n")
    return made


def refused(op, *, compile_sources=True):
    with pytest.raises(ConfigError) as caught:
        load_operator(op, compile_sources=compile_sources)
    assert "\n" not in caught.value.message
    assert caught.value.hint and "\n" not in caught.value.hint
    return caught.value


def test_folder_without_cases_file_waits_for_the_provider(folder):
    operator = load_operator(request(folder), compile_sources=True)
    assert (operator.name, operator.folder, operator.cases, operator.origin) == ("my_op", folder, (), "provider")
    assert operator.reference == Implementation(file=folder / "model.py", cls="Model")
    assert operator.candidate.env == (("A", "1"), ("B", "2"))


def test_cases_name_and_build_are_read(folder):
    (folder / "x_perf_cases.jsonl").write_text(json.dumps({"inputs": []}))
    operator = load_operator(request(folder, name="gelu", build="make -C 'my kernel'"), compile_sources=True)
    assert (operator.name, len(operator.cases), operator.build) == ("gelu", 1, ("make", "-C", "my kernel"))
    assert operator.cases_file == folder / "x_perf_cases.jsonl"


def test_missing_folder_offers_a_near_one(folder):
    error = refused(request(folder.with_name("my_opp")))
    assert "there is no folder" in error.message and error.hint == "did you mean my_op?"


def test_missing_parent_is_one_line(tmp_path):
    assert "there is no folder" in refused(request(tmp_path / "a" / "b")).message


def test_file_in_place_of_the_folder_is_told(folder):
    error = refused(request(folder / "model.py"))
    assert "is not a folder" in error.message and error.hint == f"type op={folder}"


@pytest.mark.parametrize("name", ["model.py", "model_new_ascendc.py"])
def test_missing_source_is_named(folder, name):
    (folder / name).unlink()
    assert f"has no {name}" in refused(request(folder)).message


def test_folder_of_operators_points_into_itself(folder):
    assert f"op={folder}" in refused(request(folder.parent)).hint


def test_syntax_error_has_file_line_and_text(folder):
    (folder / "model.py").write_text("import os\n\ndef f(:\n    pass\n")
    error = refused(request(folder))
    assert f"{folder / 'model.py'}:3: SyntaxError" in error.message and "def f(:" in error.message


@pytest.mark.parametrize(
    "source", [b"x = 1\n\x00", b"\xff\xfe", b"(" * 5000, b"if 1:\nx = 1\n", b"if 1:\n\tx\n        y\n"]
)
def test_sources_that_do_not_compile_are_one_line(folder, source):
    (folder / "model_new_ascendc.py").write_bytes(source)
    assert "model_new_ascendc.py" in refused(request(folder)).message


def test_sources_are_left_alone_when_not_asked_for(folder):
    (folder / "model.py").write_text("def f(:\n")
    assert load_operator(request(folder), compile_sources=False).name == "my_op"


def test_sources_are_compiled_but_never_run(folder):
    (folder / "model.py").write_text("raise SystemExit('ran')\n")
    assert load_operator(request(folder), compile_sources=True).name == "my_op"


def test_build_with_an_open_quote_is_refused(folder):
    assert "op.build" in refused(request(folder, build="make 'x")).message


def test_named_cases_file_that_is_missing_is_refused(folder):
    assert "more.jsonl" in refused(request(folder, cases_file="more.jsonl")).message
