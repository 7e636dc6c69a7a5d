"""How good is a point? Errors with confidence bounds, and what they are compared with.

certificate    what is said of a point: violations, displacements, the gap, and their sizes
certifier      making one
replicates     independent samples and what their disagreement tells
spreads        standard deviations over single scenarios
request        a point and what is known of it
located        the nearest solution, with few variables or with many
active_set     the rows and bounds that are active there
displacement   the distance to it, by a Newton step; sparse_newton
tolerances     when a certificate is good enough
words          what it says, in a sentence
judged         what a run asks of a method that certifies its points
"""

from .certificate import Certificate, Look, Sizes
from .certifier import Certifier
from .judged import JudgedMethod, JudgedState
from .tolerances import Tolerances

__all__ = ["Certificate", "Certifier", "JudgedMethod", "JudgedState", "Look", "Sizes", "Tolerances"]
