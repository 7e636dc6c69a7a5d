r"""What belongs to a run's identity, and how its options survive in a checkpoint.

Options that shape the iterates must be the same when a run is continued; those not given again are
taken from the checkpoint. Budgets and tolerances may change: they only say when to stop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...declare import StochasticProgram
from ...errors import CheckpointError
from ...run.checkpoint import Checkpoint
from ...version import VERSION
from ..options.table import OPTIONS

#: options that say when a run stops, not how it goes
STOPPING = ("max_iter", "max_samples", "tol_feas", "tol_opt")
SHAPING = tuple(o.name for o in OPTIONS if o.group != "run" and o.name not in STOPPING)


def labels_of(program: StochasticProgram) -> dict[str, str]:
    """Texts that must be equal where a run is continued."""
    return {
        "the version of pyomo_stochsqp": VERSION,
        "the list of variables": _digest(v.name for v in program.variables),
        "the list of constraints": _digest(r.component.name for r in program.rows),
        "the list of random sources": _digest(f"{s.name}, {s.size}" for s in program.sources),
    }


def note_of(options: Mapping[str, Any]) -> str:
    """The options of a run as text."""
    return json.dumps({n: options[n] for n in (*SHAPING, *STOPPING)}, default=_named)


def continued(given: Mapping[str, Any], checkpoint: Checkpoint) -> dict[str, Any]:
    """The options given now, completed by those of the checkpoint; contradictions raise."""
    before = json.loads(checkpoint.note)
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


def _digest(names: Iterable[str]) -> str:
    """Readable for a few names, and never long."""
    names = list(names)
    if len(names) <= 3:
        return ", ".join(names)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
    return f"{names[0]}, ..., {names[-1]} ({len(names)} names, digest {digest})"
