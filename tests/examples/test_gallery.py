"""Every script of examples/ runs, and finds what its docstring says.

A gallery script has a ``main()`` that returns ``{name: (found, exact)}`` and a ``TOLERANCE`` with
the reason beside it: the sampling error left by its budget, or the solver's tolerance where data is
finite. The seeds are fixed; tolerances are several times the error seen over other seeds, so that a
change of the random streams does not break a correct solver. Differences count relative to the
exact number where that is larger than one.

Scripts that return something else check themselves with ``assert``.
"""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_scripts():
    assert len(SCRIPTS) >= 13


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_found_is_exact(path, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)  # no script depends on where it is started
    module = load(path)
    assert module.__doc__ and module.__doc__.strip()
    pairs = module.main()
    assert capsys.readouterr().out
    if not isinstance(pairs, dict):
        return
    assert pairs
    for name, (found, exact) in pairs.items():
        allowed = module.TOLERANCE * max(1.0, abs(exact))
        assert abs(found - exact) <= allowed, f"{name}: found {found}, exact {exact}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_has_a_page(path):
    """The gallery shows every script."""
    pages = (EXAMPLES.parent / "docs" / "gallery").glob("*.md")
    assert any(f"examples/{path.name}" in page.read_text() for page in pages)
