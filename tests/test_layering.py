"""The import rules hold, and the checker would notice if they did not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytest.importorskip("importlinter")


def lint(directory: Path) -> subprocess.CompletedProcess:
    program = "import sys; from importlinter.cli import lint_imports_command as c; c()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=directory,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(directory), "PATH": "", "PYTHONUTF8": "1"},
    )


@pytest.fixture
def copy(tmp_path):
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pyomo_stochsqp", tmp_path / "pyomo_stochsqp", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_import_rules_hold(copy):
    result = lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "violation",
    [
        "import pyomo",
        "from pyomo_stochsqp.declare import E",
        "from pyomo_stochsqp import interface",
    ],
)
def test_a_planted_violation_is_found(copy, violation):
    target = copy / "pyomo_stochsqp" / "sqp" / "merit.py"
    target.write_text(target.read_text() + f"\n{violation}  # noqa\n")
    assert lint(copy).returncode != 0


def test_a_module_outside_the_layers_is_found(copy):
    (copy / "pyomo_stochsqp" / "util.py").write_text('"""Nowhere in the layers."""\n')
    assert lint(copy).returncode != 0
