r"""RandomParam: a Pyomo component whose members are random numbers.

A member is a leaf of Pyomo expressions that is neither variable nor constant. It has a meaning only
under ``E(...)``; asking for its value anywhere else is an error that names it.
"""

from __future__ import annotations

from typing import Any
from weakref import ref as weakref_ref

from pyomo.common.modeling import NOTSET
from pyomo.core.base.component import ComponentData
from pyomo.core.base.indexed_component import IndexedComponent, UnindexedComponent_set
from pyomo.core.base.param import Param
from pyomo.core.expr.numvalue import NumericValue

from ..errors import DataError, ModelError
from . import source as _source
from .source import RandomSource


class RandomParamData(ComponentData, NumericValue):
    """One random number."""

    __slots__ = ()

    def __init__(self, component: Any = None):
        self._component = weakref_ref(component) if component is not None else None
        self._index = NOTSET

    def __call__(self, exception: Any = NOTSET) -> Any:
        if exception is False:
            return None
        raise ModelError(
            f"RandomParam '{self.name}' has no value of its own: it is random. Put the expression "
            f"that uses it under an expectation, E(...)."
        )

    @property
    def value(self) -> Any:
        return self()

    def is_fixed(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def is_parameter_type(self) -> bool:
        return True

    def _compute_polynomial_degree(self, result: Any) -> int:
        return 0


class RandomParam(IndexedComponent):
    """Random data of a model, declared like a Param.

    Exactly one of ``distribution`` (a frozen scipy.stats distribution), ``data`` (one row per
    scenario, one column per member) and ``sampler`` (``f(rng, size) -> (size, n)``) says where the
    numbers come from. Members of one RandomParam are drawn jointly; different RandomParams are
    independent unless they name the same ``source``.

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
        **kwds: Any,
    ):
        self._spec = {"distribution": distribution, "data": data, "sampler": sampler}
        self._weights = weights
        self._source = source
        self._field = -1
        self._columns: dict[Any, int] = {}
        kwds.setdefault("ctype", Param)
        super().__init__(*args, **kwds)

    @property
    def source(self) -> RandomSource:
        """The joint source this component reads from."""
        assert self._source is not None
        return self._source

    @property
    def field(self) -> int:
        """Its position among the RandomParams of its source."""
        return self._field

    def column(self, index: Any) -> int:
        """The column of its field that holds this member."""
        return self._columns[index]

    def construct(self, data: Any = None) -> None:
        if self._constructed:
            return
        self._constructed = True
        if self.is_indexed():
            self._index_set.construct()
            for index in self._index_set:
                member = RandomParamData(component=self)
                member._index = index
                self._data[index] = member
        keys = list(self._data) if self.is_indexed() else [None]
        self._columns = {key: j for j, key in enumerate(keys)}
        given = [k for k, v in self._spec.items() if v is not None]
        if len(given) != 1:
            raise DataError(
                f"RandomParam '{self.name}': give exactly one of distribution=, data= and "
                f"sampler= ({'none' if not given else ' and '.join(given)} given)."
            )
        kind = given[0]
        build = {
            "distribution": _source.distribution,
            "data": _source.table,
            "sampler": _source.sampler,
        }[kind]
        generator = build(self.name, self._spec[kind], keys)
        if self._source is None:
            self._source = RandomSource(weights=self._weights)
        elif self._weights is not None:
            raise DataError(
                f"RandomParam '{self.name}': weights= belong to the shared source; give them to "
                "RandomSource(weights=...)."
            )
        self._field = self._source.attach(self.name, generator)

    def _pprint(self) -> Any:
        size = self.source.size
        return (
            [
                ("Size", len(self)),
                ("Index", self._index_set if self.is_indexed() else None),
                ("Scenarios", "drawn" if size is None else size),
            ],
            self.items,
            ("Column",),
            lambda k, v: [self.column(k)],
        )


class ScalarRandomParam(RandomParamData, RandomParam):
    """A RandomParam without an index."""

    def __init__(self, *args: Any, **kwds: Any):
        RandomParam.__init__(self, *args, **kwds)
        RandomParamData.__init__(self, component=self)
        self._index = None

    def construct(self, data: Any = None) -> None:
        if not self._constructed:
            self._data[None] = self
        RandomParam.construct(self, data)


class IndexedRandomParam(RandomParam):
    """A RandomParam over an index set: one joint random vector."""
