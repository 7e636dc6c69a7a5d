"""Engines: methods for one smooth program, whose functions are exact.

protocol        what an engine is, and how a solve ends
interior/       a filter interior point, for programs of any size
trust_region    l1-SQP in a trust region, for few variables
newton_model    its quadratic model, in natural units
lengths         the natural length of every variable
convexify       a definite matrix near the Lagrangian's Hessian; quasi_newton without one
dense_point     values at a point, as full matrices
libraries/      NLP libraries behind the same protocol
"""

from .interior import FeasibleFirst, Interior
from .protocol import Accuracy, Ending, Engine, Scales
from .trust_region import TrustRegion

__all__ = ["Accuracy", "Ending", "Engine", "FeasibleFirst", "Interior", "Scales", "TrustRegion"]
