"""The command that draws the pictures knows all of them, and works."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def figures():
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("make_figures", DOCS / "make_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_has_a_command(figures):
    drawn = {path.stem for path in (DOCS / "figures").glob("*.*")}
    assert drawn == set(figures.FIGURES)


def test_every_example_has_a_picture(figures):
    examples = {path.stem for path in (DOCS.parent / "examples").glob("*.py")}
    assert examples <= set(figures.FIGURES)


@pytest.mark.parametrize("name", ["demo", "reactor_sizing"])
def test_draws(name, figures, monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "OUT", tmp_path)
    figures.main([name])
    (picture,) = tmp_path.iterdir()
    assert picture.stat().st_size > 10_000
