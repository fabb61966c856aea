"""The house rules of CONTRIBUTING.md hold. That each check can fail is proved in tests/house/test_checks.py."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from msprun import schema
from tests.house import child, floors, ground, places, shape, state, values
from tests.house.tree import ROOT, Source, sources

TEXTS = (".py", ".j2", ".yaml", ".toml", ".md", ".txt", ".json", ".jsonl", ".cpp", ".sh", "Makefile", "run")


def holds(found: Iterator[str]) -> None:
    """Fail with what a check has found, one a line."""
    if lines := list(found):
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(scope="module")
def package() -> tuple[Source, ...]:
    return sources("msprun")


@pytest.fixture(scope="module")
def python() -> tuple[Source, ...]:
    return sources("msprun", "tests", "examples", "benchmarks")


@pytest.fixture(scope="module")
def committed() -> tuple[str, ...]:
    """What git knows, or would take in."""
    words = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"git does not list this checkout: {error}")
    return tuple(path for path in listed if (ROOT / path).is_file())


@pytest.fixture(scope="module")
def texts(committed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((path, (ROOT / path).read_text()) for path in committed if path.endswith(TEXTS))


def test_an_option_has_its_module_and_its_test() -> None:
    holds(places.lost_options(ROOT))


def test_a_report_has_its_template_and_golden_page_or_its_module_and_test() -> None:
    holds(places.lost_pages(ROOT))


def test_no_plain_key_is_called_like_a_folder_of_conf() -> None:
    holds(places.shared_words(ROOT, schema.Run))


def test_every_module_stands_on_a_floor(package) -> None:
    holds(floors.homeless(package))


def test_imports_go_down_only(package) -> None:
    holds(floors.upward(package))


def test_imports_make_no_circle(package) -> None:
    holds(floors.circles(package))


def test_foreign_libraries_come_in_by_one_door(package) -> None:
    holds(floors.back_doors(package))


def test_defaults_live_in_conf_alone(package) -> None:
    holds(values.second_defaults(package))


def test_dataclasses_are_for_the_schema_alone(package) -> None:
    holds(values.loose_dataclasses(package))


def test_what_travels_is_frozen(package) -> None:
    holds(values.thawed_structs(package))


def test_missing_is_none(package) -> None:
    holds(values.false_missing(package))


@pytest.mark.process
def test_files_are_small(texts) -> None:
    code = (".py", ".j2", ".yaml", ".cpp", ".sh", "Makefile")
    holds(shape.long_files((path, text) for path, text in texts if path.endswith(code)))


def test_functions_are_short(python) -> None:
    holds(shape.long_functions(python))


def test_functions_take_few_parameters(package) -> None:
    holds(shape.wide_functions(package))


def test_no_file_is_a_drawer(python) -> None:
    holds(shape.drawers(file.path for file in python))


def test_every_module_says_what_it_is(package) -> None:
    holds(shape.mute_modules(package))


def test_modules_hold_no_state(package) -> None:
    holds(state.mutable_globals(package))


def test_tables_are_never_changed(package) -> None:
    holds(state.changed_tables(package))


def test_importing_a_module_does_nothing(package) -> None:
    holds(state.import_deeds(package))


def test_the_worker_is_python_3_8(package) -> None:
    holds(child.modern_syntax(child.of(package)))


def test_the_worker_knows_only_torch_and_itself(package) -> None:
    holds(child.strange_imports(child.of(package)))


@pytest.mark.process
def test_the_top_level_is_what_contributing_says(committed) -> None:
    holds(ground.strangers(committed))


@pytest.mark.process
def test_no_file_names_the_machine_that_it_was_written_on(texts) -> None:
    holds(ground.traces(texts))
