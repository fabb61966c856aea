"""The chips that msprun has figures of."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from msprun import search, soc
from msprun.model.soc import Figure, highest
from msprun.resources import data_folder
from tests.asked import Asked, stand_in, write

FILES = soc.files_of_chips()

# name: (HBM GB/s, L2 GB/s, L2 MiB, highest TFLOP/s), the highest figure of each where sources differ.
FIGURES = {
    "Ascend910B1": (1800, 8000, 192, 757.8),
    "Ascend910B2": (1750, 7780, 192, 707.8),
    "Ascend910B2C": (1750, 7780, None, 707.8),
    "Ascend910B3": (1750, 7780, 192, 589.8),
    "Ascend910B4": (1250, 6300, 96, 540.6),
    "Ascend910B4-1": (1250, 6300, 96, 540.6),
    "Ascend910_9391": (1800, 8000, None, 757.8),
    "Ascend910_9392": (1800, 8000, None, 757.8),
    "Ascend910_9381": (1750, 7780, 192, 707.8),
    "Ascend910_9382": (1750, 7780, 192, 707.8),
    "Ascend910_9372": (1750, 7780, None, 589.8),
    "Ascend910_9362": (1250, 6300, None, 540.6),
    "Ascend310P3": (None, None, 16, None),
    "Ascend910ProB": (1148, None, None, None),
    "Ascend950PR_9579": (1600, None, 128, 4 * 378.5),
    "Ascend950PR_9589": (1600, None, 128, 4 * 432.5),
    "Ascend950PR_958b": (1600, None, 128, 4 * 432.5),
    "Ascend950PR_9599": (1600, None, None, 4 * 486.6),
    "Ascend950DT_9572": (None, None, 128, 4 * 378.5),
    "Ascend950DT_9582": (None, None, 128, 4 * 432.5),
    "Ascend950DT_9581": (None, None, 128, 4 * 432.5),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_chip_has_the_published_figures(name: str) -> None:
    chip = soc.find(name)
    assert chip is not None
    found = (highest(chip.hbm_gb_s), highest(chip.l2_gb_s), highest(chip.l2_mib), chip.peak_tflop_s)
    assert found == FIGURES[name]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_figure_names_its_source(file: Path) -> None:
    chip = soc.load(file)
    lists = [
        getattr(chip, field) for field in chip.__struct_fields__ if field not in ("names", "family", "cube_tflop_s")
    ]
    figures = [figure for listed in (*lists, *chip.cube_tflop_s.values()) for figure in listed or ()]
    assert len(figures) >= 5 and all(len(figure.source) > 3 and figure.value > 0 for figure in figures)
    assert () not in (*lists, *chip.cube_tflop_s.values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_16_bit_peaks_follow_from_cores_and_clock(file: Path) -> None:
    chip = soc.load(file)
    if chip.cube_tflop_s["fp16"] is None:
        return
    assert chip.cube_cores and chip.clock_mhz
    known = [cores.value * clock.value * 8192 / 1e6 for cores in chip.cube_cores for clock in chip.clock_mhz]
    for figure in chip.cube_tflop_s["fp16"]:
        assert min(abs(figure.value - peak) / peak for peak in known) < 0.002


def test_a_figure_without_a_source_is_refused(tmp_path: Path) -> None:
    text = FILES[0].read_text().replace(", source:", ", sauce:")
    with pytest.raises(msgspec.ValidationError):
        soc.load(write(tmp_path / "chip.yaml", text))


@pytest.mark.parametrize("name", ["910B2", "ascend910b2", " Ascend910B2\n"])
def test_spelling_and_the_makers_name_do_not_matter(name: str) -> None:
    found = soc.find(name)
    assert found is not None and found.names == ("Ascend910B2",)


def test_a_whole_name_goes_before_a_pattern() -> None:
    exact, near = soc.find("Ascend950DT_9581"), soc.find("Ascend950DT_9582")
    assert exact is not None and exact.memory_gib == (Figure(value=144, source=exact.memory_gib[0].source),)
    assert near is not None and highest(near.memory_gib) == 96


@pytest.mark.parametrize("name", ["AMD EPYC 7742", "Ascend910", "910B", "Ascend910B", "310Pvir01", "", "*", "?"])
def test_an_unknown_or_shared_name_is_nobodys(name: str) -> None:
    assert soc.find(name) is None


def test_no_name_belongs_to_two_chips() -> None:
    names = [name for file in FILES for name in soc.load(file).names]
    assert len(names) == len(set(names)) and all(name.startswith("Ascend") for name in names)


def test_chips_are_no_option() -> None:
    assert search.CHIPS not in search.options([data_folder("conf")])


def test_a_chip_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: Asked = stand_in(monkeypatch)
    assert asked("soc=Ascend910B1") == 2
    assert asked("+soc=Ascend910B1") == 2
    assert "there is no key soc" in capsys.readouterr().err
