r"""Counter-based random streams: what is drawn depends on (seed, stream, source, part, block) only.

Philox is a keyed bijection of a 256-bit counter. The key is the seed; the counter starts at

    (0, block, source * 2^32 + part, stream * 2^48 + batch size),

so any draw can be repeated at any time, on any machine, without carrying generator state: resuming
a run and splitting it over processes need nothing more than the iteration number.

Setting up a generator costs more than a small draw, so iterations are drawn in blocks: iteration k
is row k % length of block k // length, where the length depends on the batch size alone.
"""

from __future__ import annotations

import numpy as np

_BLOCK_NUMBERS = 1 << 14
_LONGEST_BLOCK = 64


def generator(
    seed: int, stream: int, source: int, part: int, block: int, batch: int
) -> np.random.Generator:
    """An independent generator for one block of draws."""
    counter = [0, block, (source << 32) + part, (stream << 48) + batch]
    return np.random.Generator(np.random.Philox(key=seed, counter=counter))


def block_length(batch: int) -> int:
    """Iterations drawn together for one batch size."""
    return max(1, min(_LONGEST_BLOCK, _BLOCK_NUMBERS // max(batch, 1)))
