r"""Models in Python files, for the command line.

The file defines a Pyomo model, or a function without arguments that returns one. Without a name,
the object called ``model`` is taken, or else the only model of the file, or else its
``build_model`` or ``create_model``. SMPS files are models, too.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyomo.core.base.PyomoModel import AbstractModel, Model

from ...errors import ModelError, StochSQPError
from ...exchange import from_smps

#: files of a model in SMPS format
SMPS = (".smps", ".cor", ".core", ".tim", ".time", ".sto", ".stoch")
FUNCTIONS = ("build_model", "create_model")


def load_model(path: str, name: str | None = None) -> Any:
    """The model that a file defines."""
    if Path(path).suffix.lower() in SMPS or Path(path).is_dir():
        return from_smps(path)
    namespace = _run(path)
    if name is None:
        name = _default_name(path, namespace)
    if name not in namespace:
        raise ModelError(f"{path} defines no '{name}'.")
    found = namespace[name]
    with _mistakes_of(path):
        if isinstance(found, AbstractModel):
            found = found.create_instance()
        elif callable(found) and not isinstance(found, Model):
            found = found()
    if not isinstance(found, Model):
        raise ModelError(f"'{name}' in {path} is {type(found).__name__}, not a Pyomo model.")
    return found


def _run(path: str) -> dict[str, Any]:
    file = Path(path)
    if not file.is_file():
        raise ModelError(f"{path}: there is no such file.")
    folder = str(file.parent.resolve())
    name = _free_name(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ModelError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    # Where the file is found, its neighbours are, too, but none of them in place of a library.
    sys.path.append(folder)
    # Pickles of its classes look it up here.
    sys.modules[name] = module
    with _mistakes_of(path):
        spec.loader.exec_module(module)
    return vars(module)


def _free_name(file: Path) -> str:
    """The name of the file's module; another one if that is the name of a library."""
    name = file.stem
    try:
        spec = importlib.util.find_spec(name)
        mine = spec is None or (spec.origin is not None and file.samefile(spec.origin))
    except (ImportError, OSError, ValueError):
        mine = False
    return name if mine and name not in sys.modules else f"stochsqp_model_{name}"


@contextmanager
def _mistakes_of(path: str) -> Iterator[None]:
    """What the user's code raises, as one line that says where."""
    try:
        yield
    except StochSQPError:
        raise
    except (Exception, SystemExit) as error:
        line = ""
        if isinstance(error, SyntaxError) and error.lineno is not None:
            line = f", line {error.lineno}"
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename) == Path(path):
                line = f", line {frame.lineno}"
        said = " ".join(str(error).split())
        if isinstance(error, SyntaxError):
            said = error.msg
        raise ModelError(
            f"{path}{line}: {type(error).__name__}: {said}. 'python {path}' shows all of it."
        ) from error


def _default_name(path: str, namespace: dict[str, Any]) -> str:
    models = {id(v): k for k, v in namespace.items() if isinstance(v, Model)}
    if isinstance(namespace.get("model"), Model):
        return "model"
    if len(models) == 1:
        return next(iter(models.values()))
    if not models:
        for name in FUNCTIONS:
            if callable(namespace.get(name)):
                return name
    what = "no model" if not models else f"several models ({', '.join(models.values())})"
    raise ModelError(f"{path} defines {what}; name the one to solve with --model NAME.")
