r"""``opt.options`` of the legacy interface: a dictionary that knows its names.

    opt.options["batch_size"] = 64        opt.options.batch_size = 64
    opt.options = {"batch_size": 64}      opt.set_options("batch_size=64 seed=1")

All of these last until they are changed; options given to ``solve`` are for that solve only.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Mapping
from typing import Any

from ...errors import OptionError
from .table import BY_NAME, check_name

#: Pyomo's names of the time limit, in the old and in the new interface
TIME_LIMITS = ("timelimit", "time_limit")


class LegacyOptions(dict[str, Any]):
    """Options by name; a wrong name or value raises when it is set."""

    def __init__(self, given: Mapping[str, Any] | None = None):
        super().__init__()
        self.update(given or {})

    def __setitem__(self, name: str, value: Any) -> None:
        check_name(name, TIME_LIMITS)
        if value is not None and name in BY_NAME:
            value = BY_NAME[name].check(name, value)
        super().__setitem__(name, value)

    def update(self, *given: Any, **more: Any) -> None:
        for name, value in dict(*given, **more).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        check_name(name, TIME_LIMITS)
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]


def options_from_text(text: str) -> dict[str, Any]:
    """Options written on a command line.

    >>> options_from_text("batch_size=64 sampling=sobol lipschitz='(2, 3)'")
    {'batch_size': 64, 'sampling': 'sobol', 'lipschitz': (2, 3)}
    """
    found = {}
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text = text[1:-1]  # pyomo solve hands over the shell's quotes
    for token in shlex.split(text):
        name, equals, value = token.partition("=")
        if not equals:
            raise OptionError(f"'{token}': options are written name=value, separated by blanks.")
        found[name] = value_from_text(value)
    return found


def value_from_text(text: str) -> Any:
    """A number, a tuple, True, False, None, or the text itself.

    >>> value_from_text("1e-3"), value_from_text("true"), value_from_text("auto")
    (0.001, True, 'auto')
    """
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
