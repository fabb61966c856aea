"""The wheel holds all that a user needs, and works where there is neither a checkout nor torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.tree import ROOT

# Left out of the clean environment: torch, and whatever makes the checkout importable.
LEFT_OUT = ("torch", "functorch", "nvidia", "triton", "msprun", "_msprun", "__editable__")
# What building and running an operator leaves in its folder.
MADE = {"__pycache__", "build", "docs", "perf_report.md"}
READ_ALL = """
import importlib, pkgutil, sys, msprun
for found in pkgutil.walk_packages(msprun.__path__, "msprun."):
    if not found.name.startswith("msprun.worker.") and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
assert "torch" not in sys.modules
print(msprun.__file__)
"""

pytestmark = pytest.mark.process


class Clean(NamedTuple):
    """A virtual environment into which the wheel was installed."""

    python: Path
    folder: Path

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Start a program of the environment in an empty folder, with nothing of ours in the environment."""
        env = {"HOME": str(self.folder), "PATH": os.defpath, "LANG": "C.UTF-8"}
        return subprocess.run(words, cwd=self.folder, env=env, capture_output=True, text=True, timeout=110, check=False)

    def msprun(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.python.with_name("msprun"), *words)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=100)
    return next(folder.glob("msprun-*.whl"))


@pytest.fixture(scope="module")
def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """Without a package index: the libraries that msprun needs are links to those of this environment."""
    folder = tmp_path_factory.mktemp("clean")
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=100)
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, capture_output=True, text=True, check=True, timeout=100).stdout.strip())
    for library in Path(sysconfig.get_path("purelib")).iterdir():
        if not library.name.startswith(LEFT_OUT) and library.suffix != ".pth":
            (site / library.name).symlink_to(library)
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, timeout=100)
    (folder / "elsewhere").mkdir()
    return Clean(python, folder / "elsewhere")


@pytest.mark.parametrize("folder", ["conf", "templates", "examples"])
def test_what_lies_beside_the_package_lies_inside_it_in_the_wheel(contents: list[str], folder: str) -> None:
    files = {file.relative_to(ROOT / folder) for file in (ROOT / folder).rglob("*") if file.is_file()}
    expected = {file.as_posix() for file in files if not MADE & set(file.parts) and not file.match("*/performance.*")}
    prefix = f"msprun/{folder}/"
    assert {name.removeprefix(prefix) for name in contents if name.startswith(prefix)} == expected


def test_the_wheel_holds_the_package_and_nothing_else(contents: list[str]) -> None:
    assert {name.split("/")[0].partition("-")[0] for name in contents} == {"msprun"}
    assert not [name for name in contents if "__pycache__" in name or name.endswith((".pyc", ".so"))]


def test_everything_that_only_reads_works_without_torch(clean: Clean) -> None:
    said = clean.run(clean.python, "-c", READ_ALL)
    assert said.returncode == 0, said.stderr
    assert Path(said.stdout.strip()).is_relative_to(clean.python.parents[1])


def test_the_installed_command_says_its_version(clean: Clean) -> None:
    said = clean.msprun("--version")
    assert (said.returncode, said.stdout) == (0, "msprun 0.1.0\n")


def test_the_installed_command_lists_its_operators(clean: Clean) -> None:
    said = clean.msprun("--help")
    assert said.returncode == 0
    assert "softmax" in said.stdout and str(ROOT) not in said.stdout


def test_without_torch_the_installed_command_refuses_in_two_lines(clean: Clean) -> None:
    said = clean.run(clean.python.with_name("msprun"), "op=add", "device=cpu")
    assert said.returncode == 2
    assert "torch is not installed" in said.stderr and "Traceback" not in said.stderr
    assert len(said.stderr.splitlines()) == 2


@pytest.mark.torch
def test_the_installed_command_measures_with_the_torch_of_another_interpreter(clean: Clean) -> None:
    said = clean.msprun("mode=quick", "op=add", "cases=0", "warmup=1", "repeats=1", f"python={sys.executable}")
    assert said.returncode == 0, said.stdout + said.stderr
    stored = json.loads(next(clean.folder.glob("runs/*/result.json")).read_text())
    case = stored["per_case"][0]
    assert case["ref_us"] > 0 and case["asc_us"] > 0
    assert case["speedup"] == case["ref_us"] / case["asc_us"]
    assert case["correctness"]["state"] == "correct"
