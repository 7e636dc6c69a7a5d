"""Stochastic SQP for Pyomo: minimise E[F(x, w)] subject to E[C(x, w)] = 0 by sampling scenarios.

Importing the package registers the solver ``'stochsqp'`` with both of Pyomo's solver factories.

The way of a model through the house, each room with what it hands on:

    declare      a Pyomo model with E(...)              -> StochasticProgram (declare/program.py)
    compile      its expressions                        -> Evaluator: g, c, J of a batch
    sample       its sources of randomness              -> Batch: the rows drawn for an estimate
    oracles      evaluator and sampler together         -> Oracle (oracle.py, the narrow waist)
    kkt, qp      linear systems, quadratic programs     -> directions and multipliers
    sqp          Algorithm 1 on any oracle              -> State, one per iteration (method.py)
    engines      the program of a fixed sample (nlp.py) -> its solution
    certify      how good a point is                    -> Certificate, with confidence bounds
    stages       samples that grow: solve, certify      -> StagedState, one per iteration
    run          the main loop (run/loop.py)            -> Outcome
    report       log, plots, tables of a run
    interface    both Pyomo interfaces, options, command line; solve.py is the front door

Beside that way: ``recourse`` (linear programs in two stages), ``value_function`` (nonlinear ones,
as an oracle), ``baselines`` (methods to compare with), ``evaluation`` and ``expected_value`` (a
model at its present point), ``decisions`` (what information and changes are worth), ``exchange``
(models in other forms), ``ranks`` (processes that share the work), ``pairwise`` (sums that do not
depend on who adds), ``given`` (what the user gave), ``scaling``, ``deadline``, ``text_table``,
``picture``, ``errors``, ``version``. Below the waist nothing knows Pyomo: ``sqp`` and ``stages``
solve any hand-written oracle.
"""

from .decisions import pareto, sensitivity, value_of_information
from .declare import (
    BlockBootstrap,
    Correlation,
    Covariance,
    CVaR,
    E,
    Entropic,
    GaussianCopula,
    Probability,
    Quantile,
    RandomParam,
    RandomSource,
    Recourse,
    SemiDeviation,
    Std,
    StudentCopula,
    Variance,
    positive_part,
    smooth_abs,
    smooth_max,
    smooth_min,
)
from .evaluation import evaluate
from .exchange import from_scenario_creator, from_smps, to_scenario_creator
from .expected_value import register as register_values
from .interface import register
from .version import VERSION as __version__

register()
register_values()

__all__ = [
    "BlockBootstrap",
    "CVaR",
    "Correlation",
    "Covariance",
    "E",
    "Entropic",
    "GaussianCopula",
    "Probability",
    "Quantile",
    "RandomParam",
    "RandomSource",
    "Recourse",
    "SemiDeviation",
    "Std",
    "StudentCopula",
    "Variance",
    "__version__",
    "evaluate",
    "from_scenario_creator",
    "from_smps",
    "pareto",
    "positive_part",
    "sensitivity",
    "smooth_abs",
    "smooth_max",
    "smooth_min",
    "to_scenario_creator",
    "value_of_information",
]
