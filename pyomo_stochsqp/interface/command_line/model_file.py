r"""Models in Python files, for the command line.

The file defines a Pyomo model, or a function without arguments that returns one. Without a name,
the object called ``model`` is taken, or else the only model of the file, or else its
``build_model`` or ``create_model``. SMPS files are models, too.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from pyomo.core.base.PyomoModel import AbstractModel, Model

from ...errors import ModelError
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
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ModelError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    # Where the file is found, its neighbours are, too; and pickles of its classes look it up here.
    sys.path.insert(0, str(file.parent.resolve()))
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return vars(module)


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
