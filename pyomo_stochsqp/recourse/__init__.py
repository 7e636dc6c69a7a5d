r"""Two-stage programs with linear recourse: samples through an LP solver, gaps by replication.

solve             the entry: from a model to an outcome
scenarios         scenarios as arrays: the random numbers of all matrices
programs          programs of samples, and who solves them
second_stage      the second stage at a fixed decision, again and again
gap               what is certified of a decision
candidates        the next decision
replicates        what is done with samples, each by itself
staged            samples that grow until the gap is small
infeasible        why there is no solution
exact             few scenarios: all of them at once
shared_work       replicates, divided among ranks
reacting          second stages at a fixed first stage, linear ones and others
policy            the second stage in one scenario
outcome           what a solve leaves behind
"""

from .gap import Gap
from .outcome import TwoStageOutcome
from .policy import Decision, Policy, decision_of, prices_of
from .reacting import reacting
from .scenarios import BatchDrawing, Drawing
from .second_stage import SecondStage
from .shared_work import SharedWork
from .solve import GAP, read_recourse, solve_recourse

__all__ = [
    "GAP",
    "BatchDrawing",
    "Decision",
    "Drawing",
    "Gap",
    "Policy",
    "SecondStage",
    "SharedWork",
    "TwoStageOutcome",
    "decision_of",
    "prices_of",
    "reacting",
    "read_recourse",
    "solve_recourse",
]
