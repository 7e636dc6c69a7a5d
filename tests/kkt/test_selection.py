"""The rule of ``auto``, named back ends, and what is said about both."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.kkt import SHAPES
from pyomo_stochsqp.errors import MissingLibraryError, OptionError
from pyomo_stochsqp.kkt import REGISTRY, KKTPattern, importable, make_backend, registry
from pyomo_stochsqp.kkt.auto import choose
from tests.kkt.kkt_systems import random_system

FOLDER = Path(registry.__file__).parent
DENSE_SHAPES = ("(5,3)", "(123,11)", "(5000,11)")
#: Measured: on bands CHOLMOD's Schur complement is the fastest, on two-stage programs qdldl.
WITH_CHOLMOD = {
    **dict.fromkeys(DENSE_SHAPES, "dense"),
    "1k band": "cholmod",
    "1k arrow": "ldl",
    "10k band": "cholmod",
    "10k arrow": "ldl",
    "100k band": "cholmod",
    "100k arrow": "ldl",
    "100k+2 rows": "cholmod",
}


def without(*names):
    return lambda name: name not in names


@pytest.mark.parametrize("shape", SHAPES)
def test_picks_on_the_measured_shapes(shape):
    pattern = SHAPES[shape]()
    expected = "dense" if shape in DENSE_SHAPES else "ldl"
    assert choose(pattern, without("cholmod"))[0] == expected
    last = "dense" if shape in DENSE_SHAPES else "superlu"
    assert choose(pattern, without("cholmod", "ldl"))[0] == last


@pytest.mark.parametrize("shape", SHAPES)
def test_picks_on_the_measured_shapes_with_cholmod(shape):
    if not importable("cholmod"):
        pytest.skip("the library of the KKT back end 'cholmod' is not importable")
    pattern = SHAPES[shape]()
    assert choose(pattern, without())[0] == WITH_CHOLMOD[shape]
    if shape not in DENSE_SHAPES:
        assert choose(pattern, without("ldl"))[0] == "cholmod"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (KKTPattern.full(1, 0), "dense"),
        (KKTPattern.full(100_000, 0), "dense"),
        (KKTPattern.full(4000, 2400), "dense"),
        (KKTPattern.full(20, 100), "dense"),
        (KKTPattern.full(20, 1000), "ldl"),
        (KKTPattern.full(300, 10, hessian_dense=True), "dense"),
    ],
)
def test_picks_beyond_the_table(pattern, expected):
    assert choose(pattern, without("cholmod"))[0] == expected


@pytest.mark.parametrize(("n", "expected"), [(60, "dense"), (200, "ldl")])
def test_a_sparse_hessian_is_dense_only_when_small(n, expected):
    system = random_system(np.random.default_rng(40), n, n // 3, 0.05, "sparse")
    assert choose(system.pattern, without("cholmod"))[0] == expected


def test_the_choice_and_its_reason_are_said():
    assert make_backend(KKTPattern.full(5, 3)).describe() == (
        "dense (LAPACK): Cholesky of the 3 x 3 Schur complement; auto: small (n=5, m=3)"
    )
    line = make_backend(KKTPattern.full(5, 3), "superlu").describe()
    assert line.startswith("superlu: LU of the KKT matrix") and "named by the user" in line


@pytest.mark.parametrize("name", REGISTRY)
def test_a_named_back_end_is_the_one_that_is_made(name):
    if not importable(name):
        pytest.skip(f"the library of the KKT back end {name!r} is not importable")
    backend = make_backend(SHAPES["1k arrow"](), name)
    assert backend.name == name and name in backend.describe()


@pytest.fixture
def hidden(monkeypatch):
    """Hide libraries from the import system, as on a machine without them."""

    def hide(*modules):
        for module in modules:
            monkeypatch.setitem(sys.modules, module, None)
        registry.importable.cache_clear()

    yield hide
    monkeypatch.undo()
    registry.importable.cache_clear()


def test_a_missing_library_is_named_and_nothing_is_put_in_its_place(hidden):
    hidden("sksparse", "sksparse.cholmod", "qdldl")
    pattern = SHAPES["1k arrow"]()
    with pytest.raises(MissingLibraryError, match=r"scikit-sparse.*pyomo_stochsqp\[cholmod\]"):
        make_backend(pattern, "cholmod")
    with pytest.raises(MissingLibraryError, match="pip install qdldl"):
        make_backend(pattern, "ldl")
    backend = make_backend(pattern)
    assert backend.name == "superlu"
    assert "neither CHOLMOD nor qdldl installed" in backend.describe()


def test_auto_says_that_cholmod_is_missing(hidden):
    hidden("sksparse", "sksparse.cholmod")
    assert "CHOLMOD not installed" in make_backend(SHAPES["1k band"]()).describe()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(OptionError, match="auto, dense, ldl, cholmod, superlu"):
        make_backend(KKTPattern.full(5, 3), "ma57")


def test_a_dense_matrix_that_cannot_fit_is_refused():
    with pytest.raises(OptionError, match=r"would need 3\d GB .* 'ldl'"):
        make_backend(SHAPES["100k band"](), "dense")


def module_level_imports(file):
    """Names of the modules a file of the package imports when it is imported itself."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def test_a_library_is_imported_only_by_the_file_of_its_back_end():
    files = {file.stem: set(module_level_imports(file)) for file in FOLDER.glob("*/*.py")}
    files |= {file.stem: set(module_level_imports(file)) for file in FOLDER.glob("*.py")}
    assert [name for name in files if "qdldl" in files[name]] == ["ldl"]
    assert [name for name in files if "sksparse" in files[name]] == ["cholmod_api"]
    reached, waiting = set(), {"__init__"}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= {module for module in files[name] if module in files} - reached
    assert "registry" in reached
    assert not reached & {registered.file for registered in REGISTRY.values()}
