"""What a decision does: a model at its present point, on scenarios that no solve has seen.

evaluate      the entry: from a model to an Evaluation
request       the model, read for it: further expressions, other data
values        expectations with standard errors and intervals, as a table
outcomes      every scenario's numbers: spreads, quantiles, probabilities of a violation
recourse      a decision whose second stage is solved again in every scenario
rows          scenarios of all sources side by side
drawing       histograms and distribution functions
"""

from .evaluate import evaluate
from .outcomes import Outcome, Outcomes
from .values import Evaluation, Value

__all__ = ["Evaluation", "Outcome", "Outcomes", "Value", "evaluate"]
