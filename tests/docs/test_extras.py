"""What documents and messages tell to install can be installed."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = [
    *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb"),
    *(ROOT / "pyomo_stochsqp").rglob("*.py"),
]  # fmt: skip


def named():
    """Extras in commands such as ``pip install "pyomo_stochsqp[plot]"``."""
    for path in PLACES:
        if "_build" in path.parts:
            continue
        for names in re.findall(
            r"(?:pyomo_stochsqp|install(?: -e)? [\"']?\.)\[([\w,]+)\]", path.read_text()
        ):
            yield from names.split(",")


def test_extras_exist():
    if sys.version_info < (3, 11):
        pytest.skip("no TOML reader in the standard library")
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = set(named())
    assert {"test", "jit", "plot"} <= found
    assert found <= set(project["optional-dependencies"])
