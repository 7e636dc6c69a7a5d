r"""Counter-based random streams: what is drawn depends on names only, never on who draws it when.

Philox is a keyed bijection of a 256-bit counter. The key is the seed; the counter starts at

    (chunk * 2^40, block, source * 2^32 + part, stream * 2^48 + batch size),

so any draw can be repeated at any time, on any machine, without carrying generator state. A chunk
is at most :data:`CHUNK` scenarios of a batch or of a replicate: several processes draw a large
sample by dividing its chunks between them.

Setting up a generator costs more than a small draw, so small batches are drawn in blocks: iteration
k is row k % length of block k // length, where the length depends on the batch size alone.
"""

from __future__ import annotations

import numpy as np

#: scenarios that have one random stream
CHUNK = 1 << 13

_BLOCK_NUMBERS = 1 << 14
_LONGEST_BLOCK = 64
#: chunks of one draw of a user's sampler, and the fewest scenarios in each
_PARTS, _FEWEST = 8, 8


def generator(
    seed: int, stream: int, source: int, part: int, block: int, batch: int, chunk: int = 0
) -> np.random.Generator:
    """An independent generator for one chunk of draws."""
    counter = [chunk << 40, block, (source << 32) + part, (stream << 48) + batch]
    return np.random.Generator(np.random.Philox(key=seed, counter=counter))


def block_length(batch: int) -> int:
    """Iterations drawn together for one batch size."""
    return max(1, min(_LONGEST_BLOCK, _BLOCK_NUMBERS // max(batch, 1)))


def costly_chunk(count: int) -> int:
    """Scenarios of one call of a user's sampler that has to draw so many: a power of two.

    It may be a simulator, whose calls are divided among processes.
    """
    share = max(count // _PARTS, _FEWEST)
    return int(min(1 << (share.bit_length() - 1), CHUNK))
