r"""Processes that make the calls of users' samplers, where these are simulators: ``workers=``.

Worker processes are forked from this one when the first call is made, so they know the sampler,
whatever it is, and start at once. A call goes to whoever is free; its rows depend on the name of
its random stream, not on who draws them or when. So the results are the same for any number.

A worker that raises answers with its error, which is raised here; one that is killed ends the
solve. Ctrl-C is the business of this process. After trouble all workers are ended; the next call
starts new ones.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from ..deadline import check_time
from ..declare.program import Draw
from ..errors import OptionError, StochSQPError, WorkerError
from .simulation import Call, Fields, one_by_one
from .streams import generator

#: seconds between two looks at the clock
PATIENCE = 0.1


class Worker(NamedTuple):
    """A process, and this end of the pipe to it."""

    process: Any
    pipe: Connection


class Workers:
    """A caller (simulation.py) that divides calls among processes."""

    def __init__(self, count: int, draws: Sequence[Draw]):
        forks = "fork" in multiprocessing.get_all_start_methods()
        if not forks or multiprocessing.current_process().daemon:
            raise OptionError(
                f"workers={count} needs processes that can be forked; this system, or this process "
                "(a worker itself), has none. Leave it out, or use MPI (comm=)."
            )
        self._count = count
        self._draws = list(draws)
        self._workers: list[Worker] = []

    def __call__(self, draw: Draw, seed: int, calls: Sequence[Call]) -> list[Fields]:
        if len(calls) < 2:
            return one_by_one(draw, seed, calls)
        if not self._workers:
            self._start()
        number = next(i for i, known in enumerate(self._draws) if known is draw)
        try:
            return self._answers([(number, seed, call) for call in calls])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the processes."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.kill()
            worker.pipe.close()
        for worker in workers:
            worker.process.join()
            worker.process.close()

    # -- inside -----------------------------------------------------------------------------------

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        for _ in range(self._count):
            mine, theirs = context.Pipe()
            others = [worker.pipe for worker in self._workers]
            process = context.Process(
                target=_work, args=(theirs, self._draws, [mine, *others]), daemon=True
            )
            with warnings.catch_warnings():
                # of threads in a forked process; a worker runs nothing but the sampler
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
            self._workers.append(Worker(process, mine))

    def _answers(self, questions: Sequence[Any]) -> list[Fields]:
        answers: list[Any] = [None] * len(questions)
        free, busy = list(self._workers), dict[Connection, tuple[int, Worker]]()
        following = 0
        while following < len(questions) or busy:
            while free and following < len(questions):
                worker = free.pop()
                busy[worker.pipe] = following, worker
                _tell(worker, questions[following])
                following += 1
            check_time()
            for pipe in wait(list(busy), PATIENCE):
                assert isinstance(pipe, Connection)
                place, worker = busy.pop(pipe)
                answers[place] = _answer(worker)
                free.append(worker)
        return answers


def _tell(worker: Worker, question: Any) -> None:
    with suppress(BrokenPipeError):  # it is dead: its answer will say so
        worker.pipe.send(question)


def _answer(worker: Worker) -> Fields:
    try:
        fields, error = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        code = worker.process.exitcode
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        raise WorkerError(
            f"Worker process {worker.process.pid} was ended {how} while it called a sampler: "
            "perhaps memory was short. Use fewer workers, or look for what ends the sampler."
        ) from None
    if error is not None:
        raise error
    found: Fields = fields
    return found


def _work(pipe: Connection, draws: Sequence[Draw], others: Sequence[Connection]) -> None:
    """The life of a worker: it ends when the other end of its pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:  # open copies would hide that this process' parent is gone
        other.close()
    with suppress(EOFError, OSError):
        while True:
            number, seed, call = pipe.recv()
            pipe.send(_reply(draws[number], seed, call))
    os._exit(0)


def _reply(draw: Draw, seed: int, call: Call) -> tuple[Fields | None, StochSQPError | None]:
    try:
        return draw(generator(seed, *call[:-1]), call.size), None
    except StochSQPError as error:
        return None, type(error)(str(error))
    except BaseException as error:
        return None, WorkerError(
            f"A worker process failed: {type(error).__name__}: {error}. Try workers=1 to see where."
        )
