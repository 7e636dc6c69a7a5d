r"""A program in the words of a library: values one function at a time, Hessians with a factor.

    sigma grad^2 f + sum_i y_i grad^2 c_i  =  sigma W(x, y / sigma),        W(x, 0) subtracted for
                                                                            sigma = 0

Libraries ask for f, grad f, c and J at one point in four calls: the program is evaluated once. They
swallow exceptions of their callbacks. So the first one is kept, every later call raises it again,
which ends the library's loop, and whoever started that loop raises it in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...deadline import check_time
from ...nlp import NLP
from ...oracle import Estimate, Vector

T = TypeVar("T")


class Undefined(ArithmeticError):
    """A function has no value at a trial point: the library is to try another one."""


class Callbacks:
    """f, g, c, J and second derivatives of one program."""

    def __init__(self, nlp: NLP):
        self.nlp = nlp
        self.problem = nlp.problem
        #: what ended the loop, to be raised once it has ended
        self.trouble: BaseException | None = None
        self.x = nlp.problem.x0
        self._here: Estimate | None = None
        if nlp.second_order:
            indptr, rows = nlp.hessian_pattern()
            columns = np.repeat(np.arange(self.problem.n), np.diff(indptr))
            #: the lower triangle: row by row what the pattern has column by column
            self.hessian_entries: tuple[NDArray[np.intp], NDArray[np.intp]] = (columns, rows)

    def at(self, x: Vector) -> Estimate:
        """Values at x."""
        self._check()
        if self._here is None or not np.array_equal(x, self.x):
            self.x = np.array(x)
            self._here = self._guarded(lambda: self.nlp.evaluate(self.x))
        here = self._here
        if here.issue is not None or here.f is None or not np.isfinite(here.f):
            raise Undefined(str(here.issue))
        return here

    def objective(self, x: Vector) -> float:
        f = self.at(x).f
        assert f is not None
        return f

    def hessian(self, x: Vector, sigma: float, y: Vector) -> Vector:
        """Values on the lower triangle."""
        self._check()
        x, y = np.array(x), np.array(y)

        def made() -> Vector:
            if sigma > 0.0:
                return sigma * self.nlp.hessian(x, y / sigma)
            return self.nlp.hessian(x, y) - self.nlp.hessian(x, np.zeros_like(y))

        values = self._guarded(made)
        if not np.isfinite(values).all():
            raise Undefined("second derivatives")
        return values

    def _check(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self._guarded(check_time)

    def _guarded(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except BaseException as trouble:
            self.trouble = trouble
            raise
