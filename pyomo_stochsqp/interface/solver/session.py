r"""One run, with everything that watches it: log, callback, checkpoint, signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...report.banner import banner
from ...report.log import RunLog
from ...run import Observer, Outcome, Progress
from ...run.checkpoint import Checkpoint, Keeper, save
from ...run.interruption import Interruption
from ...solve import RECORDS, Setup
from .callback import CallbackObserver
from .resume import labels_of, note_of


def run_session(
    setup: Setup,
    options: Mapping[str, Any],
    streams: Sequence[Any] = (),
    checkpoint: Checkpoint | None = None,
    without_effect: Sequence[str] = (),
) -> tuple[Outcome, str]:
    """The outcome of a run and the text of its log."""
    progress = setup.beginning()
    if checkpoint is not None:
        checkpoint.check(labels_of(setup.program), setup.oracle)
        progress = checkpoint.restore(progress, RECORDS)
    log = RunLog(streams, setup.budget, setup.tolerances, setup.program.sign)
    log.write(banner(setup, options, progress, without_effect))
    keeper = _keeper(setup, options)
    observers: list[Observer] = [log]
    if options["callback"] is not None:
        observers.append(CallbackObserver(options["callback"], options["callback_every"], setup))
    if keeper is not None:
        observers.append(keeper)
    with Interruption(keeper) as interruption:
        at_end = None if keeper is None else keeper.keep
        outcome = setup.run([*observers, interruption], progress, at_end)
    log.summary(outcome, setup.oracle.problem)
    return outcome, log.text


def _keeper(setup: Setup, options: Mapping[str, Any]) -> Keeper | None:
    path = options["checkpoint"]
    if path is None:
        return None
    labels = labels_of(setup.program)
    note = note_of({**options, "seed": setup.seed})

    def write(progress: Progress) -> None:
        save(path, progress, labels, note, setup.oracle)

    return Keeper(write, options["checkpoint_every"])
