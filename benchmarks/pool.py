r"""Many independent instances over the cores, with a progress line.

Every worker uses one BLAS thread: the matrices are small, and CPU times are compared.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
REDRAW = 0.5  # seconds


def run_all(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int, what: str
) -> Iterator[Any]:
    """function(*task) for all tasks, as they finish; in this process if jobs is 1."""
    progress = _Progress(len(tasks), what)
    for result in _sequential(function, tasks) if jobs == 1 else _pooled(function, tasks, jobs):
        yield result
        progress.advance()
    progress.close()


def one_thread() -> None:
    """Ask for one BLAS thread; must come before NumPy is first imported to have an effect."""
    for variable in THREADS:
        os.environ.setdefault(variable, "1")


def _sequential(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    for task in tasks:
        yield function(*task)


def _pooled(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[Any]:
    one_thread()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        queue = iter(tasks)
        running = {pool.submit(function, *t) for _, t in zip(range(2 * jobs), queue, strict=False)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = next(queue, None)
                if task is not None:
                    running.add(pool.submit(function, *task))
                yield future.result()


class _Progress:
    """One line on a terminal; a line per tenth of the work elsewhere."""

    def __init__(self, total: int, what: str):
        self._total, self._what = total, what
        self._done = self._tenth = 0
        self._began = time.perf_counter()
        self._next = 0.0
        self._terminal = sys.stderr.isatty()

    def advance(self) -> None:
        self._done += 1
        now = time.perf_counter()
        tenth = 10 * self._done // self._total
        due = now >= self._next if self._terminal else tenth > self._tenth
        if due:
            share, seconds = self._done / self._total, now - self._began
            left = f"{seconds * (1.0 - share) / share:.1f} s left"
            line = f"[{'#' * int(24 * share):24}] {100 * share:3.0f} % of {self._what}, {left}"
            print(line, end="\r" if self._terminal else "\n", file=sys.stderr, flush=True)
            self._next, self._tenth = now + REDRAW, tenth

    def close(self) -> None:
        if self._terminal and self._total:
            print(file=sys.stderr)
