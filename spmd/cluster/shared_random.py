"""Random numbers that differ from run to run, and are equal in all processes."""

import functools
import secrets
from collections.abc import Iterator
from typing import TypeVar

import jax
import numpy as np

from spmd.cluster.store import all_gather_small

_T = TypeVar("_T")


def shared_seed() -> int:
    """Returns a random 64-bit number, new in every run and equal in all processes.

    Raises:
        ClusterWaitError: some process does not take part in time.
    """
    return _seed(jax.distributed.is_initialized())


@functools.cache
def _seed(in_cluster: bool) -> int:
    number = secrets.randbits(64)
    return int(all_gather_small("spmd/seed", str(number))[0]) if in_cluster else number


class SharedDraws:
    """NumPy's global random state, made equal in all processes while data is read.

    Keras shuffles with it. Process 0 draws the seed from its own state.
    """

    def __init__(self) -> None:
        """Agrees on the seed; blocks, and all processes must call it, in the same order."""
        drawn = str(np.random.randint(2**32, dtype=np.uint32))
        seed = all_gather_small("spmd/draws", drawn)[0]
        self._state = np.random.RandomState(int(seed)).get_state()

    def read(self, iterator: Iterator[_T]) -> Iterator[_T]:
        """Yields an iterator's items; code that runs between them draws from the process's own state."""
        while True:
            own = np.random.get_state()
            np.random.set_state(self._state)
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self._state = np.random.get_state()
                np.random.set_state(own)
            yield item
