r"""What belongs to a run's identity, and how its options survive in a checkpoint.

Options that shape the iterates must be the same when a run is continued; those not given again are
taken from the checkpoint. Budgets and tolerances may change: they only say when to stop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...compile import fingerprint
from ...declare import StochasticProgram
from ...declare.program import Part
from ...declare.reading import scaling_factors
from ...errors import CheckpointError
from ...run.checkpoint import Checkpoint
from ...run.identity import Digests, Identity, digest_of
from ...solve import Setup
from ...version import VERSION
from ..options.table import OPTIONS

#: options that say when a run stops, not how it goes
STOPPING = ("max_iter", "max_samples", "tol_feas", "tol_opt")
#: scenarios drawn to recognise a distribution
DRAWS = 16
SHAPING = tuple(o.name for o in OPTIONS if o.group != "run" and o.name not in STOPPING)


def labels_of(program: StochasticProgram) -> dict[str, str]:
    """Texts that must be equal where a run is continued."""
    return {
        "the version of pyomo_stochsqp": VERSION,
        "the list of variables": listed(v.name for v in program.variables),
        "the list of constraints": listed(r.component.name for r in program.rows),
        "the list of random sources": listed(f"{s.name}, {s.size}" for s in program.sources),
    }


def identity_of(setup: Setup) -> Identity:
    """Everything that defines the problem of a run."""
    program, problem = setup.program, setup.oracle.problem
    factors = scaling_factors(program)
    given = [] if factors is None else [factors.variables, factors.rows, [factors.objective]]
    labels = {
        **labels_of(program),
        "the sense of the objective": "minimise" if program.sign > 0 else "maximise",
        "the suffix scaling_factor": listed(repr(np.asarray(f).tolist()) for f in given),
    }
    parts = [part for source in program.sources for part in source.parts]
    weighted = [part for part in parts if part.weights is not None]
    drawn = [part for part in parts if part.draw is not None and not part.costly]
    evaluator = setup.evaluator
    return Identity(
        labels,
        {
            "the bounds of variable {}": Digests(
                problem.variable_names, digest_of(problem.x_lower, problem.x_upper)
            ),
            "the right-hand side of {}": Digests(
                problem.row_names, digest_of(problem.row_lower, problem.row_upper)
            ),
            "the data of {}": Digests(*fingerprint.tables(evaluator)),
            "the weights of {}": _digests_of(weighted, lambda part: part.weights),
            "the distribution of {}": _digests_of(drawn, _some_draws),
            "the expression of {} or a number in it": Digests(*fingerprint.functions(evaluator)),
        },
    )


def _digests_of(parts: Sequence[Part], numbers: Callable[[Part], Any]) -> Digests:
    digests = [fingerprint.of_table(np.asarray(numbers(part))) for part in parts]
    return Digests([part.name for part in parts], np.array(digests, dtype=np.uint64))


def _some_draws(part: Part) -> Any:
    """Numbers of a distribution, without the last digits, in which machines may differ."""
    assert part.draw is not None
    numbers = np.column_stack(part.draw(np.random.default_rng(0), DRAWS))
    return np.array([[f"{v:.6e}" for v in row] for row in numbers.tolist()], dtype="S16")


def note_of(options: Mapping[str, Any]) -> str:
    """The options of a run as text."""
    return json.dumps({n: options[n] for n in (*SHAPING, *STOPPING)}, default=_named)


def continued(given: Mapping[str, Any], checkpoint: Checkpoint) -> dict[str, Any]:
    """The options given now, completed by those of the checkpoint; contradictions raise."""
    before = checkpoint.note
    now = json.loads(json.dumps(dict(given), default=_named))
    for name in SHAPING:
        if name in now and now[name] != before.get(name):
            raise CheckpointError(
                f"'{checkpoint.path}' cannot be continued with {name}={given[name]!r}: the run was "
                f"made with {before.get(name)!r}. Leave {name} out, or start anew without resume=."
            )
        text = before.get(name)
        if isinstance(text, str) and text.startswith(_FUNCTION) and name not in now:
            raise CheckpointError(
                f"'{checkpoint.path}' was made with {name} = {text}, which a checkpoint cannot "
                f"hold; give {name} again."
            )
    return {**before, **given}


_FUNCTION = "the function "


def _named(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return f"{_FUNCTION}{getattr(value, '__qualname__', type(value).__qualname__)}"


def listed(names: Iterable[str]) -> str:
    """Readable for a few names, and never long."""
    names = list(names)
    if len(names) <= 3:
        return ", ".join(names)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
    return f"{names[0]}, ..., {names[-1]} ({len(names)} names, digest {digest})"
