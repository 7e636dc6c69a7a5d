r"""The solver's configuration, generated from the option table.

Pyomo's own entries (tee, time_limit, load_solutions, ...) come from its ``SolverConfig``. A name
that neither table knows raises and suggests the nearest one, however it is given: as a keyword, as
an attribute or an item of ``config``, or inside ``solver_options``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyomo.common.config import ConfigDict, ConfigValue, DynamicImplicitDomain
from pyomo.contrib.solver.common.config import SolverConfig

from .table import BY_NAME, OPTIONS, check_name, unknown_option


class StochSQPConfig(SolverConfig):
    """Pyomo's common solver options and those of this package."""

    def __init__(
        self,
        description: Any = None,
        doc: Any = None,
        implicit: bool = False,
        implicit_domain: Any = None,
        visibility: int = 0,
    ):
        super().__init__(
            description=description,
            doc=doc,
            implicit=implicit,
            implicit_domain=implicit_domain,
            visibility=visibility,
        )
        # declared anew, with the package's own names, defaults and checks
        del self["solver_options"], self["threads"]
        self.declare(
            "solver_options",
            ConfigDict(
                implicit=True,
                implicit_domain=DynamicImplicitDomain(_solver_option),
                description="The options of this package, under the same names as here.",
            ),
        )
        for option in OPTIONS:
            self.declare(
                option.name,
                ConfigValue(
                    default=option.default,
                    domain=_Domain(option.name),
                    description=f"{option.meaning} ({option.range})",
                ),
            )

    def __setitem__(self, name: str, value: Any) -> None:
        self._check({name: value})
        super().__setitem__(name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ConfigDict._reserved_words and not isinstance(value, ConfigValue):
            self._check({name: value})
        super().__setattr__(name, value)

    def set_value(self, value: Any, skip_implicit: bool = False) -> Any:
        if isinstance(value, Mapping):
            self._check(value)
        return super().set_value(value, skip_implicit)

    def _check(self, given: Mapping[str, Any]) -> None:
        """Raise our own errors, before Pyomo wraps them in its own words."""
        for name, value in given.items():
            if name not in self:
                raise unknown_option(name, self.keys())
            if name in BY_NAME and value is not None:
                BY_NAME[name].check(name, value)


class _Domain:
    """The check of one option, by name, so that configurations can be pickled."""

    def __init__(self, name: str):
        self._name = name

    def __call__(self, value: Any) -> Any:
        return BY_NAME[self._name].check(self._name, value)


def _solver_option(name: str, value: Any) -> ConfigValue:
    check_name(name)
    return ConfigValue(BY_NAME[name].check(name, value), domain=_Domain(name))


def given_options(
    lasting: StochSQPConfig, config: StochSQPConfig, keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """The options somebody gave: in the lasting configuration, in ``solver_options``, as keywords.

    Later ones win. ``config`` is the configuration of this solve, made of all three.
    """
    given = {name: config[name] for name in BY_NAME if lasting.get(name)._userSet}
    given.update(config.solver_options.items())
    given.update({name: config[name] for name in keywords if name in BY_NAME})
    return {name: value for name, value in given.items() if value is not None}
