r"""What a program computes, as one number per function: equal programs have equal numbers.

Taken from the plan, in which everything that can change a result is explicit: the structure of
every function, its constants (Params and fixed variables by their present values), and where in the
data it reads. The data themselves have numbers of their own.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..declare.randomness.readers import Stored
from .algebra.form import Form
from .algebra.node import Node
from .evaluator import Evaluator
from .plan import Plan

Digests = NDArray[np.uint64]
#: bytes of a table that are read at once; stretches of one in a file, and their length
CHUNK, STRETCHES, STRETCH = 1 << 22, 64, 1 << 16


def functions(evaluator: Evaluator) -> tuple[list[str], Digests]:
    """Names and digests: objective, rows, and what formulas of expectations are made of."""
    names, digests = [], []
    for one in (evaluator, *evaluator.levels):
        names += one.plan.names
        digests += list(_of_plan(one.plan))
    return names, np.array(digests, dtype=np.uint64)


def tables(evaluator: Evaluator) -> tuple[list[str], Digests]:
    """Names and digests of all finite data, collapsed scenarios among them."""
    found = [(f.name, f.matrix) for f in evaluator.plan.streams.fields if f.matrix is not None]
    parts = [part for source in evaluator.program.sources for part in source.parts]
    fields = [field for part in parts for field in part.fields]
    found += [(f.name, f.matrix) for f in fields if isinstance(f.matrix, Stored)]
    numbers = [of_table(matrix) for _, matrix in found]
    return [name for name, _ in found], np.array(numbers, dtype=np.uint64)


def of_table(matrix: Any) -> int:
    """The digest of an array or a CSR matrix; of a table in a file, that of some stretches."""
    digest = hashlib.blake2b(digest_size=8)
    parts = (matrix.indptr, matrix.indices, matrix.data) if sp.issparse(matrix) else (matrix,)
    for part in parts:
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        for block in _blocks(part):
            digest.update(np.ascontiguousarray(block).tobytes())
    return int.from_bytes(digest.digest(), "little")


def _blocks(part: Any) -> Iterator[Any]:
    """Some rows after the other."""
    count = part.shape[0]
    bytes_per_row = max(int(np.prod(part.shape[1:], dtype=int)) * part.dtype.itemsize, 1)
    stored = isinstance(part, Stored)
    if not stored or count * bytes_per_row <= STRETCHES * STRETCH:
        step = max(CHUNK // bytes_per_row, 1)
        for start in range(0, count, step):
            yield part[start : start + step]
        return
    length = max(STRETCH // bytes_per_row, 1)
    stretches = 2 if part.scans else STRETCHES
    for start in np.linspace(0, count - length, stretches).astype(int).tolist():
        yield part[start : start + length]


def _of_plan(plan: Plan) -> Iterator[int]:
    known: dict[Node, bytes] = {}
    for form_of in plan.forms:
        digest = hashlib.blake2b(digest_size=8)
        for stream, form in form_of.items():
            digest.update(struct.pack("<q", stream) + _of_form(plan, form, known))
        yield int.from_bytes(digest.digest(), "little")


def _of_form(plan: Plan, form: Form, known: dict[Node, bytes]) -> bytes:
    parts = [_of(plan, form.const, known)]
    for node, coef in form.terms.items():
        parts += (_of(plan, coef, known), _of(plan, node, known))
    return b"".join(parts)


def _of(plan: Plan, item: Any, known: dict[Node, bytes]) -> bytes:
    """The digest of a number or a node; the walk is iterative, because expressions may be deep."""
    if item.__class__ is not Node:
        return struct.pack("<d", item)
    stack = [item]
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
        elif node.constant:
            known[node] = struct.pack("<d", node.value)
        else:
            waiting = [a for a in node.args if a.__class__ is Node and a not in known]
            if waiting:
                stack += waiting
            else:
                known[node] = _made(plan, node, known)
    return known[item]


def _made(plan: Plan, node: Node, known: dict[Node, bytes]) -> bytes:
    digest = hashlib.blake2b(node.op.encode(), digest_size=8)
    if node.op == "ell":
        ell = plan.streams.ells[node.payload]
        digest.update(ell.indices.tobytes() + ell.coefs.tobytes())
    elif node.payload is not None:
        digest.update(repr(node.payload).encode())
    for a in node.args:
        digest.update(known[a] if a.__class__ is Node else struct.pack("<d", a))
    return digest.digest()
