r"""TransformationFactory('stochsqp.extensive_form'): a model that any Pyomo solver can read.

Distributions and samplers are replaced by finitely many scenarios. The expectations stay in place:
over finite data they already are sums for every other solver, and they remain sampled terms for
ours, which then solves the same sample average problem. Quantiles become variables with equations.
Sources that meet in one integrand are discretised jointly, n scenarios for all of them and not n
for each. A Recourse block is written out, once for every scenario of all that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from pyomo.common.collections import ComponentMap
from pyomo.common.config import ConfigDict, ConfigValue, In, PositiveInt
from pyomo.common.modeling import unique_component_name
from pyomo.core.base import (
    Block,
    Constraint,
    ConstraintList,
    Expression,
    Objective,
    Suffix,
    TransformationFactory,
    Var,
    VarList,
)
from pyomo.core.base.transformation import Transformation
from pyomo.core.expr import value

from ...errors import ModelError, OptionError
from ..functionals.quantile import QuantileData
from ..randomness.random_param import RandomParam
from ..randomness.source import RandomSource
from ..randomness.tables import Table
from ..reading.summands import sources_of, summands
from ..recourse.written_out import random_of_recourse, write_recourse_out
from ..scan import expectations_inside, integrands_inside, scan
from .discretise import METHODS, discretise


@TransformationFactory.register(
    "stochsqp.extensive_form",
    doc="Replace random distributions by finitely many scenarios, for any Pyomo solver.",
)
class ExtensiveForm(Transformation):
    """Discretise the randomness of a model.

    Options: ``n_scenarios`` (for each independent source), ``seed``, ``method`` (monte_carlo,
    latin_hypercube, sobol, kmeans, quadrature) and ``sample_finite`` (draw from tables of more
    rows, too; otherwise tables stay as they are).

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo_stochsqp import E, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(distribution=st.norm(3, 2))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> form = pyo.TransformationFactory("stochsqp.extensive_form")
    >>> finite = form.create_using(m, n_scenarios=4, method="quadrature")
    >>> round(pyo.value(finite.obj), 8)  # (1 - 3)^2 + 2^2
    8.0
    """

    CONFIG = ConfigDict("stochsqp.extensive_form")
    CONFIG.declare("n_scenarios", ConfigValue(default=None, domain=PositiveInt))
    CONFIG.declare("seed", ConfigValue(default=None, domain=int))
    CONFIG.declare("method", ConfigValue(default="monte_carlo", domain=In(METHODS)))
    CONFIG.declare("sample_finite", ConfigValue(default=False, domain=bool))

    def _create_using(self, model: Any, **options: Any) -> Any:
        instance = model.clone()
        self._apply_to(instance, **options)
        _records(instance)["original"] = model
        return instance

    def _apply_to(self, model: Any, **options: Any) -> None:
        config = self.CONFIG(options)
        rng = np.random.default_rng(config.seed)
        for group in _groups(model):
            if not _needs_scenarios(group, config.n_scenarios, config.sample_finite):
                continue
            names = " x ".join(source.name or readers[0].name for source, readers in group)
            if config.n_scenarios is None:
                raise OptionError(
                    f"Source '{names}' is not finite: say how many scenarios should stand for it, "
                    "n_scenarios=..."
                )
            made = discretise(group, config.n_scenarios, config.method, rng)
            joint = RandomSource(names, weights=made[0].weights)
            for (source, readers), rows in zip(group, made, strict=True):
                shared = Table(rows.fields[0]) if source.origin is not None else None
                for k, reader in enumerate(readers):
                    reader.replace(joint, shared if shared is not None else Table(rows.fields[k]))
        _records(model)["recourse"] = write_recourse_out(model)
        _write_quantiles_out(model)

    def component_map(self, extensive: Any, original: Any = None) -> ComponentMap:
        """From the components of the original model to those of the model made from it."""
        original = _original(extensive) if original is None else original
        records = _records(extensive)
        added = {id(b) for b in (records.get("quantiles"), *records.get("recourse", ()))}
        found = ComponentMap(
            _paired(original.component_objects(), _without(extensive.component_objects(), added))
        )
        theirs = _without(extensive.component_data_objects(), added)
        found.update(_paired(original.component_data_objects(), theirs))
        return found

    def propagate_solution(self, extensive: Any, original: Any = None) -> None:
        """Copy variable values and imported suffixes (duals) back into the original model."""
        new_of = self.component_map(extensive, original)
        target = _original(extensive) if original is None else original
        for variable in target.component_data_objects(Var):
            found = new_of[variable]
            variable.set_value(found.value, skip_validation=True)
            variable.stale = found.stale
        for suffix in target.component_objects(Suffix):
            if suffix.import_enabled():
                values = new_of[suffix]
                suffix.update((mine, values[new]) for mine, new in new_of.items() if new in values)


def _without(components: Iterable[Any], added: set[int]) -> Iterable[Any]:
    """Components that are neither one of those blocks nor inside one."""
    return (c for c in components if not _is_in(c, added))


def _is_in(component: Any, blocks: set[int]) -> bool:
    while component is not None:
        if id(component) in blocks or id(component.parent_component()) in blocks:
            return True
        component = component.parent_block()
    return False


def _paired(mine: Iterable[Any], theirs: Iterable[Any]) -> list[tuple[Any, Any]]:
    """A clone lists its components in the same order."""
    try:
        return list(zip(mine, theirs, strict=True))
    except ValueError:
        raise ModelError(
            "The two models have different components, so one was not made from the other (or was "
            "changed since)."
        ) from None


def _records(model: Any) -> dict[str, Any]:
    return model.private_data("pyomo_stochsqp.declare.extensive_form")


def _original(extensive: Any) -> Any:
    original = _records(extensive).get("original")
    if original is None:
        raise ModelError(
            f"Model '{extensive.name}' was not made by create_using of 'stochsqp.extensive_form'. "
            "After apply_to, the solution is already in the model itself."
        )
    return original


def _write_quantiles_out(model: Any) -> None:
    """A variable and an equation for every quantile, which no expression can hold."""
    found = {
        id(node): node
        for data in model.component_data_objects((Objective, Constraint, Expression))
        if data.expr is not None
        for node in expectations_inside(data.expr)
        if isinstance(node, QuantileData)
    }
    if not found:
        return
    block = _records(model)["quantiles"] = Block()
    model.add_component(unique_component_name(model, "quantiles"), block)
    block.value, block.equation = VarList(), ConstraintList()
    for node in found.values():
        start = value(node, exception=False)
        variable = block.value.add()
        variable.set_value(start)
        block.equation.add(node.write_out(variable))


Group = list[tuple[RandomSource, list[RandomParam]]]


def _groups(model: Any) -> list[Group]:
    """The sources of a model with their RandomParams; those that meet in an integrand together."""
    readers: dict[int, tuple[RandomSource, list[RandomParam]]] = {}
    for component in model.component_objects(RandomParam, descend_into=True):
        if not component.is_reference():
            entry = readers.setdefault(id(component.source), (component.source, []))
            entry[1].append(component)
    owner = {key: key for key in readers}

    def root(key: int) -> int:
        while owner[key] != key:
            key = owner[key]
        return key

    def unite(sources: Sequence[RandomSource]) -> None:
        for other in sources[1:]:
            owner[root(id(other))] = root(id(sources[0]))

    for integrand in _integrands(model):
        for part in summands(integrand, scan(integrand)):
            unite(part.sources)
    unite(sources_of(tuple(random_of_recourse(model))))
    groups: dict[int, Group] = {}
    for key, entry in readers.items():
        groups.setdefault(root(key), []).append(entry)
    return list(groups.values())


def _integrands(model: Any) -> Iterable[Any]:
    for data in model.component_data_objects((Objective, Constraint, Expression)):
        if data.expr is not None:
            yield from integrands_inside(data.expr)


def _needs_scenarios(group: Group, count: int | None, sample_finite: bool) -> bool:
    origins = [readers[0].origin for _, readers in group]
    sizes = [origin.size for origin in origins if isinstance(origin, Table)]
    if len(sizes) < len(origins):
        return True
    return sample_finite and count is not None and prod(sizes) > count
