"""The notebooks run, cell by cell, and the saved ones hold pictures."""

import json
from pathlib import Path

import matplotlib
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))

#: the race of the second notebook takes minutes; here only its first rounds are run
SHORTER = {"sizes = [10**2, 10**3, 10**4, 10**5, 4 * 10**5]": "sizes = [10**2, 10**3]"}


def cells(path):
    return [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


def run(path, replacements):
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells(path), 1):
        source = "".join(cell["source"])
        for old, new in replacements.items():
            source = source.replace(old, new)
        exec(compile(source, f"{path.name}, cell {number}", "exec"), namespace)
    return namespace


@pytest.fixture
def _no_windows():
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_there_are_two():
    assert len(NOTEBOOKS) == 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
@pytest.mark.usefixtures("_no_windows")
def test_runs(path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)  # as if it were not installed
    run(path, SHORTER)


@pytest.mark.slow
@pytest.mark.usefixtures("_no_windows")
def test_the_whole_race(monkeypatch):
    """For the largest number of scenarios sampling takes less time than SLSQP on all of them."""
    path = next(p for p in NOTEBOOKS if p.stem == "why_sampling_wins")
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    table = run(path, {})["table"]
    largest = max(N for _, N in table)
    assert table["stochastic SQP", largest][1] < table["SAA, SLSQP", largest][1]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_saved_with_pictures(path):
    outputs = [o for cell in cells(path) for o in cell["outputs"]]
    assert any("image/png" in o.get("data", {}) for o in outputs)
    assert not any(o["output_type"] == "error" for o in outputs)
