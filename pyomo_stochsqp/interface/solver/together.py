r"""A solve by all ranks of an MPI communicator: ``comm=``.

Every rank calls ``solve`` with a model of its own. Rank 0 makes the run, with its log, callbacks
and checkpoints; the others answer its questions about large samples, and in the end return, or
raise, what rank 0 does. Without a communicator there is rank 0 alone.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...deadline import OutOfTime
from ...errors import EmptyModelError, InfeasibleModelError, MissingLibraryError
from ...oracle import Vector
from ...oracles import PassesOfRanks
from ...ranks import Crew, agree, fault_of_any
from ...run import Outcome
from ...run.checkpoint import probe_of
from ...solve import Task
from ...value_function import ValueFunction
from .resume import labels_of

logger = logging.getLogger("pyomo_stochsqp")

#: options that decide what is evaluated and how results are read: rank 0's count
COMMON = ("seed", "sampling", "replacement", "jit", "tol_feas", "tol_opt", "batch_size",
          "gap", "max_samples")  # fmt: skip
#: what ends a solve without being a mistake
ENDINGS = (EmptyModelError, InfeasibleModelError, OutOfTime)


def world() -> Any:
    """The communicator of all ranks that mpiexec has started."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingLibraryError(
            f"comm= and --mpi need mpi4py and an MPI library ({error}). Install them with: "
            'pip install "pyomo_stochsqp[mpi]"'
        ) from error
    return MPI.COMM_WORLD


class Together:
    """The ranks of one solve."""

    def __init__(self, comm: Any):
        crew = None if comm is None else Crew(comm)
        self._crew = None if crew is None or crew.alone else crew
        self._passes: PassesOfRanks | None = None

    def __enter__(self) -> Together:
        if self._crew is not None and not self.leads:
            logger.addFilter(_silent)
        return self

    def __exit__(self, *_: object) -> None:
        logger.removeFilter(_silent)

    @property
    def leads(self) -> bool:
        """Whether this rank makes the run."""
        return self._crew is None or self._crew.rank == 0

    @contextmanager
    def faults(self) -> Iterator[None]:
        """What any rank raises inside, all of them do."""
        fault = None
        try:
            yield
        except Exception as error:
            fault = error
        if self._crew is not None:
            fault_of_any(self._crew, fault)
        elif fault is not None:
            raise fault

    def common(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of this rank, and rank 0's where all need the same."""
        if self._crew is None:
            return dict(options)
        return {**options, **self.shared({name: options[name] for name in COMMON})}

    def shared(self, value: Any) -> Any:
        """Rank 0's."""
        return value if self._crew is None else self._crew.comm.bcast(value, root=0)

    def join(self, task: Task) -> None:
        """Compare the models; from now on large samples are evaluated by all."""
        if self._crew is None:
            return
        labels = {**labels_of(task.program), "the bounds": _bounds(task)}
        # with the objective, as the run will ask: nothing is compiled for the comparison alone
        self.compare(labels, probe_of(task.oracle, task.oracle.problem.x0, objective=True))
        assert not isinstance(task.oracle, ValueFunction)
        self._passes = PassesOfRanks(self._crew, task.sampler, task.oracle.oracles)

    def compare(self, labels: Mapping[str, str], numbers: Vector) -> None:
        """Raise on all ranks unless they have built the same."""
        if self._crew is not None:
            _warn_of_crowds(self._crew)
            agree(self._crew, labels, numbers)

    def served(self) -> Outcome:
        """The outcome of rank 0's run, after answering all of its questions."""
        assert self._crew is not None and self._passes is not None
        outcome: Outcome = self._crew.serve(self._passes.answer)
        return outcome

    @contextmanager
    def leading(self) -> Iterator[list[Outcome]]:
        """Rank 0's run; whatever happens inside, the others hear of it. The outcome is put into the
        list."""
        outcomes: list[Outcome] = []
        error: Any = "rank 0 failed"
        try:
            yield outcomes
            error = None
        except BaseException as raised:
            error = raised if isinstance(raised, ENDINGS) else f"rank 0 failed: {raised!r}"
            raise
        finally:
            if self._crew is not None:
                self._crew.dismiss(outcomes[0] if outcomes else None, error)


def _warn_of_crowds(crew: Crew) -> None:
    """Ranks that share a core wait for each other."""
    machines = crew.comm.allgather((platform.node(), os.cpu_count() or 1))
    node, cores = max(set(machines), key=lambda machine: machines.count(machine) / machine[1])
    count = machines.count((node, cores))
    if crew.rank == 0 and count > cores:
        logger.warning(
            "%d ranks share the %d cores of %s: they are slower than %d would be.",
            count,
            cores,
            node,
            cores,
        )


def _silent(record: logging.LogRecord) -> bool:
    """Warnings are rank 0's."""
    return False


def _bounds(task: Task) -> str:
    p = task.oracle.problem
    digest = hashlib.sha256()
    for array in (p.x_lower, p.x_upper, p.row_lower, p.row_upper, p.jac_indptr, p.jac_indices):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]
