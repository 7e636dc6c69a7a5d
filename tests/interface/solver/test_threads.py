"""A solve takes one thread of the linear algebra libraries, and gives the others back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pyomo.environ as pyo
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.interface.solver.threads import linear_algebra_threads


def numbers():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


pytestmark = pytest.mark.skipif(not numbers(), reason="threads of this BLAS cannot be counted")


def regression():
    """Wide enough for BLAS to divide its products."""
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40))
    m.w = RandomParam(range(40), data=rng.normal(size=(20_000, 40)))
    loss = pyo.log(1 + pyo.exp(-sum(m.w[j] * m.x[j] for j in range(40)) - 1))
    m.obj = pyo.Objective(expr=E(loss) + 0.1 * sum(m.x[j] ** 2 for j in range(40)))
    return m


def test_bits_do_not_depend_on_the_environment():
    answers = []
    for outside in (1, 3):
        m = regression()
        with threadpool_limits(outside, "blas"):
            pyo.SolverFactory("stochsqp").solve(m, seed=1)
            assert numbers() == {outside}
        answers.append([m.x[j].value for j in range(40)])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("given", [{}, {"threads": 2}, {"options": {"threads": 2}}])
def test_the_user_may_have_more(given):
    seen = []
    pyo.SolverFactory("stochsqp").solve(
        regression(), callback=lambda info: seen.append(numbers()), **given
    )
    assert seen and all(found == {2 if given else 1} for found in seen)


def test_errors_give_them_back():
    with threadpool_limits(2, "blas"):
        with pytest.raises(ZeroDivisionError), linear_algebra_threads(1):
            raise ZeroDivisionError
        assert numbers() == {2}


def test_solves_at_the_same_time():
    """The last one gives them back."""
    before, both = numbers(), Barrier(2)

    def hold():
        with linear_algebra_threads(1):
            both.wait()
            found = numbers()
            both.wait()
        return found

    with ThreadPoolExecutor(2) as pool:
        assert [f.result() for f in [pool.submit(hold), pool.submit(hold)]] == [{1}, {1}]
    assert numbers() == before
