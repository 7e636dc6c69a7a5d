"""History, certificates, the driver loop, log and plots: what a run tells about itself."""

from .certificate import Certificate, Certifier
from .driver import Budget, Method, Observer, Outcome, Tolerances, run
from .history import History
from .progress import Progress
from .termination import Stop

__all__ = [
    "Budget",
    "Certificate",
    "Certifier",
    "History",
    "Method",
    "Observer",
    "Outcome",
    "Progress",
    "Stop",
    "Tolerances",
    "run",
]
