r"""The namespace of the generated functions.

Constants of the model are not written into the code but stand in its namespace: arrays of indices,
run-time constants (read again by ``reload``) and the constant contributions to ``out``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.node import Coef
from ..graph.block import constants

#: Programs up to this many results are listed entry by entry, if all results are floats.
SMALL = 200


class Space:
    """The namespace of the generated functions: constants by name, each stored once."""

    def __init__(self, functions: dict[str, Any]):
        self.names: dict[str, Any] = dict(functions)
        self._known: dict[Any, str] = {}
        self._reloadable: dict[str, list[Coef]] = {}
        #: positions of ``out`` with a constant contribution
        self.base_positions: set[int] = set()

    def set_base(self, base: NDArray[np.float64], positions: set[int]) -> None:
        """The constant contributions to ``out``, as an array and one by one."""
        self.base_positions = positions
        self.names["base"] = base
        if base.size <= SMALL:
            self.names.update({f"base{p}": float(base[p]) for p in positions})

    def array(self, values: NDArray[Any]) -> str:
        """A constant array."""
        return self.shared((values.dtype.str, values.shape, values.tobytes()), values)

    def shared(self, key: Any, values: Any) -> str:
        """An object known by a key; its contents may change at ``reload``."""
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"A{len(self.names)}"
            self.names[name] = values
        return name

    def constant(self, values: list[Coef], scalar: bool) -> str:
        """A run-time constant (array), read again by ``reload``."""
        key = (scalar, *values)
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"K{len(self.names)}"
            numbers = constants(values)
            self.names[name] = float(numbers[0]) if scalar else numbers
            self._reloadable[name] = values
        return name

    def reload(self) -> None:
        for name, values in self._reloadable.items():
            numbers = constants(values)
            self.names[name] = float(numbers[0]) if isinstance(self.names[name], float) else numbers
