"""Every ```python block of README.md and of docs/ runs, top to bottom, one namespace per page.

A few pages speak of "your model" ``m`` and of a solver ``opt``. They get the small ones below.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and BLOCK.search(page.read_text())]


#: pages whose blocks use a model of the reader's own
WITH_A_MODEL = {"solving", "reproducing"}
MODEL = """
import pyomo.environ as pyo
from pyomo_stochsqp import E, RandomParam

m = pyo.ConcreteModel()
m.price = pyo.Var(initialize=1.0)
m.volume = pyo.Var(initialize=1.0)
m.w = RandomParam(data=[0.5, 1.0, 1.5, 2.0] * 20)
m.cost = pyo.Objective(expr=E((m.price - m.w) ** 2) + m.volume**2)
m.balance = pyo.Constraint(expr=E(m.w * m.price) + m.volume == 3)
opt = pyo.SolverFactory("stochsqp")
"""


def test_there_are_pages():
    names = {page.stem for page in PAGES}
    assert {"README", "tutorial", "modelling", "choosing", "log", "extending"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a page may write files
    text = page.read_text()
    namespace = {"__name__": "__main__"}
    if page.stem in WITH_A_MODEL:
        exec(MODEL, namespace)
    for block in BLOCK.finditer(text):
        above = "\n" * text[: block.start(1)].count("\n")  # so that errors name the page's line
        exec(compile(above + block[1], str(page), "exec"), namespace)
