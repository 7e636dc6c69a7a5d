"""A misspelt option raises through every way of passing one, and suggests the nearest name."""

import os
import subprocess
import sys

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.interface.command_line.main import main
from tests.interface.models import circle


def legacy():
    return pyo.SolverFactory("stochsqp")


def new():
    return SolverFactory("stochsqp")


def set_item(mapping, name, value):
    mapping[name] = value


WAYS = {
    "legacy keyword": lambda: legacy().solve(circle(), batchsize=8),
    "legacy options=": lambda: legacy().solve(circle(), options={"batchsize": 8}),
    "legacy solver_options=": lambda: legacy().solve(circle(), solver_options={"batchsize": 8}),
    "legacy options_string=": lambda: legacy().solve(circle(), options_string="batchsize=8"),
    "legacy opt.options[...]": lambda: set_item(legacy().options, "batchsize", 8),
    "legacy opt.options.name": lambda: setattr(legacy().options, "batchsize", 8),
    "legacy opt.options.update": lambda: legacy().options.update(batchsize=8),
    "legacy opt.options = {}": lambda: setattr(legacy(), "options", {"batchsize": 8}),
    "legacy set_options text": lambda: legacy().set_options("batchsize=8"),
    "legacy set_options mapping": lambda: legacy().set_options({"batchsize": 8}),
    "legacy factory": lambda: pyo.SolverFactory("stochsqp", batchsize=8).solve(circle()),
    "legacy factory options=": lambda: pyo.SolverFactory(
        "stochsqp", options={"batchsize": 8}
    ).solve(circle()),
    "legacy config": lambda: setattr(legacy().config, "batchsize", 8),
    "new keyword": lambda: new().solve(circle(), batchsize=8),
    "new solver_options=": lambda: new().solve(circle(), solver_options={"batchsize": 8}),
    "new config attribute": lambda: setattr(new().config, "batchsize", 8),
    "new config item": lambda: set_item(new().config, "batchsize", 8),
    "new config.solver_options": lambda: set_item(new().config.solver_options, "batchsize", 8),
    "new config.set_value": lambda: new().config.set_value({"batchsize": 8}),
    "new factory": lambda: SolverFactory("stochsqp", batchsize=8),
}


@pytest.mark.parametrize("way", WAYS)
def test_python(way):
    with pytest.raises(OptionError, match=r"'batchsize'\. Did you mean 'batch_size'"):
        WAYS[way]()


@pytest.mark.parametrize(
    "way", [w for w in WAYS if "=" in w or "options" in w or w.endswith("keyword")]
)
def test_the_right_name_passes(way):
    source = WAYS[way]
    correct = _renamed(source, "batchsize", "batch_size")
    correct()


def _renamed(function, old, new):
    """The same lambda with another option name in its constants."""

    def swap(value):
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, tuple):
            return tuple(swap(v) for v in value)
        return value

    code = function.__code__
    code = code.replace(
        co_consts=tuple(swap(c) for c in code.co_consts),
        co_names=tuple(swap(n) for n in code.co_names),
    )
    return type(function)(code, function.__globals__)


def test_command_line(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text("from tests.interface.models import circle\nmodel = circle()\n")
    assert main(["solve", str(path), "--batchsize", "8"]) == 2
    assert "Did you mean 'batch_size'?" in capsys.readouterr().err


def test_pyomo_solve(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("from tests.interface.models import circle\nmodel = circle()\n")
    done = subprocess.run(
        [sys.executable, "-m", "pyomo.scripting.pyomo_main", "solve", "--solver=stochsqp",
         "--solver-options=batchsize=8", str(path)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode != 0
    assert "Did you mean 'batch_size'?" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("batch_size", 0, "at least 1"),
        ("batch_size", 1.5, "whole number"),
        ("batch_size", {"w": 0}, r"batch_size\['w'\]"),
        ("seed", -1, "at least 0"),
        ("tol_feas", 0.0, "outside"),
        ("sampling", "halton", "choose one of"),
        ("beta", 1.5, "outside"),
        ("lipschitz", (1,), "a pair"),
        ("callback", 3, "a function"),
        ("checkpoint", 3, "not a file name"),
    ],
)
def test_wrong_values_name_the_option(name, value, complaint):
    with pytest.raises(OptionError, match=complaint):
        legacy().solve(circle(), **{name: value})
    with pytest.raises(OptionError, match=complaint):
        new().solve(circle(), **{name: value})
