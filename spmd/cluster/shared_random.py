"""Random numbers that are other ones in every run, and the same in all processes."""

import functools
import secrets
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from spmd.cluster.store import all_gather_small


def shared_seed() -> int:
    """Returns a random number of 64 bits: another one in every run, the same in all processes.

    Raises:
        ClusterWaitError: the first process does not tell its number in time.
    """
    return _seed(jax.distributed.is_initialized())


@functools.cache
def _seed(in_cluster: bool) -> int:
    number = secrets.randbits(64)
    return int(all_gather_small("spmd/seed", str(number))[0]) if in_cluster else number


class SharedDraws:
    """NumPy's global random numbers, the same in all processes while data is read.

    Keras shuffles with them. They begin with a number that the first process draws from its own.
    """

    def __init__(self) -> None:
        """Agrees on the numbers; all processes call it, in the same order."""
        drawn = str(np.random.randint(2**32, dtype=np.uint32))
        seed = all_gather_small("spmd/draws", drawn)[0]
        self._state = np.random.RandomState(int(seed)).get_state()

    def read(self, iterator: Iterator[Any]) -> Iterator[Any]:
        """Reads an iterator; what runs between its items draws from the process's own numbers.

        Args:
            iterator: what to read.

        Yields:
            Its items.
        """
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
