"""python -m pyomo_stochsqp: demo, solve, inspect, options, version."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyomo_stochsqp
from pyomo_stochsqp.interface.command_line.main import main
from pyomo_stochsqp.interface.options.page import as_markdown
from pyomo_stochsqp.interface.options.table import OPTIONS
from tests.interface.models import TILT_X

ROOT = Path(__file__).parents[3]
MODEL = "from tests.interface.models import {name}\nmodel = {name}()\n"


@pytest.fixture
def file(tmp_path):
    def write(name="tilting", text=None):
        path = tmp_path / "model.py"
        path.write_text(text or MODEL.format(name=name))
        return str(path)

    return write


def test_demo(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert "iter" in printed and "Ended" in printed
    found, exact = printed.splitlines()[-2].split()[1:3]
    assert float(found) == pytest.approx(float(exact), abs=5e-3)
    assert float(exact) == pytest.approx(TILT_X, abs=1e-6)


def test_solve_writes_a_plot_and_a_report(file, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    plot, report = tmp_path / "run.png", tmp_path / "run.json"
    options = ["--batch-size", "64", "--seed=3", "--max_iter", "80", "--batch-growth=constant"]
    options += ["--algorithm", "stochsqp"]
    code = main(["solve", file(), *options, "--plot", str(plot), "--json", str(report)])
    assert code == 0
    assert "x = 0.7" in capsys.readouterr().out
    assert plot.stat().st_size > 10_000
    data = json.loads(report.read_text())
    assert data["seed"] == 3 and data["iterations"] == 80
    assert data["termination_condition"] == "iterationLimit"
    assert data["variables"]["x"] == pytest.approx(TILT_X, abs=0.1)
    assert set(data["duals"]) == {"tilt"}
    assert len(data["history"]["violation"]) == 80
    assert data["certificate"]["infeasibility_bound"] >= data["certificate"]["infeasibility"]


def test_quiet_prints_only_the_solution(file, capsys):
    assert main(["solve", file("circle"), "--quiet"]) == 0
    assert capsys.readouterr().out.split() == ["Solution", "x", "=", "-1", "y", "=", "-2"]


def test_a_model_that_has_no_solution(file, capsys):
    text = (
        "import pyomo.environ as pyo\nmodel = pyo.ConcreteModel()\n"
        "model.x = pyo.Var(initialize=1.0)\nmodel.obj = pyo.Objective(expr=model.x)\n"
        "model.c = pyo.Constraint(expr=model.x**2 == -1)\n"
    )
    assert main(["solve", file(text=text), "--quiet"]) == 1


@pytest.mark.parametrize(
    ("text", "arguments", "found"),
    [
        ("from tests.interface.models import circle\nanything = circle()\n", [], True),
        ("from tests.interface.models import circle\ndef build_model():\n    return circle()\n", [],
         True),
        ("from tests.interface.models import circle\na, b = circle(), circle()\n", [], False),
        ("from tests.interface.models import circle\na, b = circle(), circle()\n",
         ["--model", "b"], True),
        ("from tests.interface.models import circle\nmake = circle\n", ["--model", "make"], True),
        ("x = 1\n", [], False),
        ("x = 1\n", ["--model", "x"], False),
        ("x = 1\n", ["--model", "y"], False),
    ],
)  # fmt: skip
def test_which_model_of_a_file(file, capsys, text, arguments, found):
    assert main(["solve", file(text=text), "--quiet", *arguments]) == (0 if found else 2)


def test_mistakes_are_one_line_on_stderr(file, capsys):
    for arguments in (
        ["solve", "missing.py"],
        ["solve", file(), "--seed"],
        ["solve", file(), "stray"],
        ["solve", file(), "--batch-size", "0"],
        ["solve", file(), "--resume", "missing.npz"],
    ):
        assert main(arguments) == 2
        message = capsys.readouterr().err
        assert message.startswith("error: ") and message.count("\n") == 1


def test_options_lists_every_option(capsys):
    assert main(["options"]) == 0
    printed = capsys.readouterr().out
    for option in OPTIONS:
        assert f"  {option.name} = " in printed


def test_the_page_of_options_is_up_to_date(capsys):
    assert main(["options", "--markdown"]) == 0
    assert capsys.readouterr().out == as_markdown()
    page = (ROOT / "docs" / "options.md").read_text()
    assert page == as_markdown(), (
        "run: python -m pyomo_stochsqp options --markdown > docs/options.md"
    )


def test_version(capsys):
    assert main(["version"]) == 0
    assert capsys.readouterr().out.strip() == pyomo_stochsqp.__version__


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "pyomo_stochsqp", "version"],
                          capture_output=True, text=True, check=True, env=os.environ)  # fmt: skip
    assert done.stdout.strip() == pyomo_stochsqp.__version__


def test_unknown_commands_and_arguments(capsys):
    for arguments in (["solves"], ["version", "--loud"], []):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2


def test_inspect(file, capsys):
    assert main(["inspect", file("regression")]) == 0
    short = capsys.readouterr().out
    assert "total" in short or "regression" in short
    assert main(["inspect", file("regression"), "--source"]) == 0
    assert "def " in capsys.readouterr().out


def test_doctor_tells_what_is_here_and_solves_the_example(capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "KKT back ends  dense, ldl" in said
    assert "the answer is right" in said
    for name in ("numpy", "scipy", "pyomo", "qdldl", "scikit-sparse", "numba", "unopy"):
        assert f"\n  {name}" in said
