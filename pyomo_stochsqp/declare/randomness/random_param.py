r"""RandomParam: a Pyomo component whose members are random numbers.

A member is a leaf of Pyomo expressions that is neither variable nor constant. It has a meaning only
under ``E(...)``; asking for its value anywhere else is an error that names it, unless it was fixed
with ``fix_to`` (the mean-value problem, or a single scenario).
"""

from __future__ import annotations

from typing import Any
from weakref import ref as weakref_ref

from pyomo.common.modeling import NOTSET
from pyomo.core.base import units_container
from pyomo.core.base.component import ComponentData
from pyomo.core.base.indexed_component import (
    IndexedComponent,
    IndexedComponent_NDArrayMixin,
    UnindexedComponent_set,
)
from pyomo.core.expr.numvalue import NumericValue
from pyomo.util import check_units

from ...errors import DataError, ModelError
from ...given import asked
from ...text_table import html_of
from .columns import Numbers, read_columns
from .fixing import fixed_numbers, mean_numbers
from .glance import at_a_glance
from .source import Origin, RandomSource
from .tables import Table


class RandomParamData(ComponentData, NumericValue):
    """One random number."""

    __slots__ = ()

    def __init__(self, component: Any = None):
        # Slots of ComponentData, which the type checker does not see.
        reference = None if component is None else weakref_ref(component)
        self._component = reference  # type: ignore[misc]
        self._index = NOTSET  # type: ignore[misc]

    def __call__(self, exception: Any = NOTSET) -> Any:
        fixed = self.parent_component()._fixed
        if fixed is not None:
            return fixed[self._index]
        if exception is False:
            return None
        raise ModelError(
            f"RandomParam '{self.name}' is random and has no value of its own. Put the expression "
            "that uses it under an expectation, E(...). If it is, this expectation is not a finite "
            "sum: solve it with SolverFactory('stochsqp'), or discretise the model first, for any "
            "solver, with TransformationFactory('stochsqp.extensive_form').create_using(model, "
            "n_scenarios=..., seed=...)."
        )

    @property
    def value(self) -> Any:
        return self()

    # Comparisons make expressions, but a mapping may have random numbers as keys.
    __hash__ = object.__hash__

    def get_units(self) -> Any:
        """The units given to the RandomParam."""
        return self.parent_component()._units

    def is_fixed(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def is_parameter_type(self) -> bool:
        return True

    def _compute_polynomial_degree(self, result: Any) -> int:
        return 0


class RandomParam(IndexedComponent, IndexedComponent_NDArrayMixin):
    """Random data of a model, declared like a Param.

    Where the numbers come from is said by exactly one of

    - ``data``: one row per scenario, one column per member. A NumPy or memory-mapped array, a SciPy
      sparse matrix, a DataFrame or a mapping of columns (matched to the index by name);
    - ``distribution``: a frozen scipy.stats distribution (univariate: independent members), one per
      member (list, mapping or rule), or a multivariate one. ``copula``, a correlation matrix, a
      GaussianCopula or a StudentCopula, makes univariate ones depend on each other;
    - ``sampler``: a function ``f(rng, size)`` that returns a (size, n) array;
    - ``source``: a :class:`RandomSource` with data of its own. ``columns`` says which of its
      columns the members read, if their index does not.

    Members of one RandomParam are drawn jointly; different RandomParams are independent unless they
    name the same ``source``. ``weights`` are the probabilities of the rows of ``data``.

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo_stochsqp import E, RandomParam
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=0.5)
    >>> m.w = RandomParam(distribution=st.norm(1, 1))
    >>> print(E(pyo.exp(m.w * m.x)))
    E[exp(w*x)]
    """

    _ComponentDataClass = RandomParamData

    def __new__(cls, *args: Any, **kwds: Any) -> Any:
        if cls is not RandomParam:
            return super().__new__(cls)
        if not args or (args[0] is UnindexedComponent_set and len(args) == 1):
            return super().__new__(ScalarRandomParam)
        return super().__new__(IndexedRandomParam)

    def __init__(
        self,
        *args: Any,
        distribution: Any = None,
        data: Any = None,
        sampler: Any = None,
        weights: Any = None,
        source: RandomSource | None = None,
        columns: Any = None,
        copula: Any = None,
        units: Any = None,
        **kwds: Any,
    ):
        if source is not None and not isinstance(source, RandomSource):
            raise DataError(f"RandomParam: source={source!r} is not a RandomSource.")
        self._numbers: Numbers | None = Numbers(data, distribution, sampler, copula)
        self._weights = weights
        self._wanted = columns
        self._units = None if units is None else units_container.units.get_units(units)
        self._source = source
        self._origin: Origin | None = None
        self._columns: dict[Any, int] = {}
        self._fixed: dict[Any, float] | None = None
        #: how often it was fixed, freed or given other data: what was made of it before is stale
        self.changes = 0
        kwds.setdefault("ctype", RandomParam)
        super().__init__(*args, **kwds)

    @property
    def source(self) -> RandomSource:
        """The joint source this component reads from."""
        assert self._source is not None, f"RandomParam '{self.name}' is not constructed"
        return self._source

    @property
    def origin(self) -> Origin:
        """The table or distribution that holds its numbers (the source's, if that has one)."""
        assert self._origin is not None, f"RandomParam '{self.name}' is not constructed"
        return self._origin

    def column(self, index: Any) -> int:
        """The column of its table or distribution that holds this member."""
        return self._columns[index]

    @property
    def random(self) -> bool:
        """False while it is fixed to numbers."""
        return self._fixed is None

    def construct(self, data: Any = None) -> None:
        if self.is_constructed():
            return
        self._constructed = True
        if self._anonymous_sets is not None:
            for index_set in self._anonymous_sets:
                index_set.construct()
        if data is not None:
            raise DataError(
                f"RandomParam '{self.name}': numbers come from data=, distribution=, sampler= or "
                "source=, not from a DataPortal."
            )
        if self.is_indexed():
            for index in self._index_set:
                member = self._data[index] = RandomParamData(component=self)
                member._index = index
        assert self._numbers is not None
        title = f"RandomParam '{self.name}'"
        self._source, self._origin, self._columns = asked(
            title, read_columns, self, self._numbers, self._weights, self._wanted
        )
        self._numbers = self._weights = None

    def mean(self) -> Any:
        """The expected values: a number, or a dict over the index."""
        means = mean_numbers(self)
        return means if self.is_indexed() else means[None]

    def fix_to(self, values: Any = None, *, row: int | None = None) -> None:
        """Replace the random numbers by fixed ones, until :meth:`unfix`.

        ``values`` is ``'mean'``, a number, a mapping over the index or a sequence in its order;
        ``row`` takes one scenario of the data. Expectations over fixed numbers are exact, and every
        other solver can read them.

        >>> import pyomo.environ as pyo
        >>> from pyomo_stochsqp import E, RandomParam
        >>> m = pyo.ConcreteModel()
        >>> m.w = RandomParam(data=[1.0, 3.0])
        >>> pyo.value(E(m.w**2))
        5.0
        >>> m.w.fix_to("mean")
        >>> pyo.value(E(m.w**2))
        4.0
        """
        self._fixed = fixed_numbers(self, values, row)
        self.changes += 1

    def unfix(self) -> None:
        """Make the numbers random again."""
        self._fixed = None
        self.changes += 1

    def replace(
        self, source: RandomSource, origin: Origin, columns: dict[Any, int] | None = None
    ) -> None:
        """Read another table or distribution from now on; the same columns, unless others are
        given."""
        self._source = source
        self._origin = origin
        if columns is not None:
            self._columns = columns
        self.changes += 1

    def _repr_html_(self) -> str:
        if not self.is_constructed():
            return html_of([f"RandomParam '{self.name}', not constructed yet"])
        return html_of(at_a_glance(self))

    def _pprint(self) -> Any:
        return (
            [
                ("Size", len(self)),
                ("Index", self._index_set if self.is_indexed() else None),
                ("Scenarios", self._origin.size if isinstance(self._origin, Table) else "drawn"),
            ],
            self.items,
            ("Column", "Fixed to"),
            lambda k, v: [self._columns[k], None if self._fixed is None else self._fixed[k]],
        )


class ScalarRandomParam(RandomParamData, RandomParam):
    """A RandomParam without an index."""

    def __init__(self, *args: Any, **kwds: Any):
        RandomParam.__init__(self, *args, **kwds)
        RandomParamData.__init__(self, component=self)
        self._index = None

    def construct(self, data: Any = None) -> None:
        self._data[None] = self
        RandomParam.construct(self, data)


class IndexedRandomParam(RandomParam):
    """A RandomParam over an index set: one joint random vector."""


# assert_units_consistent(model) checks every component by its type.
check_units._component_data_handlers[RandomParam] = check_units._assert_units_consistent_expression
