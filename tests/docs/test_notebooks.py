"""The notebooks run, cell by cell; the saved ones and the pages of the site show the same."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))

#: the race of one notebook is long; here only its first rounds are run
SHORTER = {
    "sizes = [10**2, 10**3, 10**4, 10**5, 4 * 10**5]": "sizes = [10**2, 10**3]",
    "(1e-1, 3e-2, 1e-2, 3e-3)": "(1e-1, 1e-2)",
    "(1e-2, 1e-3, 3e-4, 1e-4)": "(1e-2, 1e-3)",
    "[0, 0.05, 0.1, 0.2, 0.4, 1]": "[0, 1]",
}


def module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


runner = module("notebook_runner")


@pytest.fixture(autouse=True)
def _no_casadi(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)  # as if it were not installed


def run(path, replacements):
    def change(source):
        for old, new in replacements.items():
            source = source.replace(old, new)
        return source

    return runner.run(json.loads(path.read_text()), path.name, change)


def kinds(outputs):
    """What the cells show: printed text, values, pictures."""
    return [
        [(o["output_type"], "image/png" in o.get("data", {})) for o in cell] for cell in outputs
    ]


def test_there_are_four():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs_and_shows_what_is_saved(path):
    outputs, _ = run(path, SHORTER)
    codes = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert kinds(outputs) == kinds([cell["outputs"] for cell in codes])
    assert any(picture for cell in kinds(outputs) for _, picture in cell)


def test_what_a_cell_shows():
    namespace = {}
    source = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);\nprint('a')\nx = 6\nx * 7"
    printed, value, picture = runner.run_cell(source, "cell", namespace)
    assert printed["text"] == ["a\n"] and value["data"]["text/plain"] == ["42"]
    assert picture["data"]["image/png"] and namespace["x"] == 6
    assert runner.run_cell("x;", "cell", namespace) == []
    assert runner.run_cell("None", "cell", namespace) == []
    with pytest.raises(ZeroDivisionError):
        runner.run_cell("1 / 0", "cell", namespace)


def test_what_a_page_shows(monkeypatch):
    pytest.importorskip("myst_parser")
    monkeypatch.setitem(sys.modules, "notebook_runner", runner)
    pages = module("notebook_pages")
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["print('1 < 2')"]},
    ]
    notebook = {"cells": cells}
    text = pages.as_markdown(notebook, runner.run(notebook, "page")[0], "notebooks/page")
    assert text.startswith("# Title\n\nRun it yourself: {download}`page.ipynb <page.ipynb>`.")
    assert "{code-block} python\nprint('1 < 2')\n" in text
    assert "<pre>1 &lt; 2\n</pre>" in text


@pytest.mark.slow
def test_the_whole_race():
    """Sampling with samples that grow is more exact than SAA that takes as long."""
    path = next(p for p in NOTEBOOKS if p.stem == "why_sampling_wins")
    table = {name: np.array(rows) for name, rows in run(path, {})[1]["table"].items()}
    scenarios, errors, seconds = table["SAA, SLSQP"].T
    ours = table["stochsqp, distributions"]
    fast_enough = ours[:, 2] <= seconds[-1]
    assert ours[fast_enough, 1].min() < errors[-1]
    assert ours[fast_enough, 0].min() < scenarios[-1]
