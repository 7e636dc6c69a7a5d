"""What a user's mistake raises.

Two rules. A mistake in the model or in an option raises one of these, and the message names the
component, says what is wrong and what to do. Numerical trouble during a run never raises: it ends
in a termination condition (``Stop`` in ``method.py``).
"""

from __future__ import annotations


class StochSQPError(Exception):
    """Base class of everything this package raises on purpose.

    What ends a run on its way has the run's best point in ``solution_loader``.
    """


class ModelError(StochSQPError, ValueError):
    """The model cannot be read as an expectation-constrained program."""


class EmptyModelError(ModelError):
    """The model has no free variables, so there is nothing to solve."""


class InfeasibleModelError(ModelError):
    """No values of the variables can satisfy a constraint, or the bounds of a variable."""


class DataError(StochSQPError, ValueError):
    """Random data, weights or a sampler are not usable."""


class OptionError(StochSQPError, ValueError):
    """An option has an unknown name or a value outside its range."""


class MissingLibraryError(StochSQPError, ImportError):
    """A library was named by the user but is not installed."""


class CheckpointError(StochSQPError, ValueError):
    """A checkpoint cannot be read, or belongs to another run."""


class CallbackError(StochSQPError):
    """The user's callback has raised an exception, which is the cause of this one."""


class RankError(StochSQPError):
    """Another process of the same solve has failed, or has built another model."""


class WorkerError(StochSQPError):
    """A process that makes calls of a sampler has failed."""
