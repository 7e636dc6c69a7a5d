"""From a model to a decision: what information and attention to uncertainty are worth.

value_of_information   EVPI and VSS, from the three problems behind them
one_stage              those problems where randomness is data, with Recourse or without
one_scenario           random numbers that are known for a while
two_stage              those problems where scenario blocks hold later decisions
mean_scenario          the average of linear scenario blocks
solving                solving a model on the way, and leaving it as it was
parameters             numbers of a model that may be changed for a while
sensitivity            what the optimum does when a number changes
pareto                 solving along a parameter; the frontier
"""

from .pareto import Frontier, pareto
from .sensitivity import Sensitivity, sensitivity
from .value_of_information import ValueOfInformation, value_of_information

__all__ = [
    "Frontier",
    "Sensitivity",
    "ValueOfInformation",
    "pareto",
    "sensitivity",
    "value_of_information",
]
