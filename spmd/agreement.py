"""What several processes must have in common, compared before it can hang or drift.

Processes run one program if each traces the same step, holds the same mirrored state, and calls in the
same order. Nobody checks that: different programs wait for each other for ever, and different values go
on apart. So whatever did not come out of a common step is compared, by digests through the coordination
service, without the devices: programs when they are first run, values that somebody wrote, arguments.
"""

import functools
import hashlib
import itertools
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from spmd.cluster import store
from spmd.errors import ProcessMismatchError
from spmd.mesh import split_sharding, whole_sharding
from spmd.processes import place_own, readable

# As long as the watchdog is patient with a process that makes no step.
_WAIT_SECONDS = 600.0

_DRAWS = itertools.count()


def digest(value: Any) -> str:
    """Makes a short text of an array that this process can read; equal for equal bits.

    Args:
        value: an array, random keys too, or text.

    Examples:
        >>> import numpy as np
        >>> (
        ...     digest(np.float32(1)) == digest(np.float32(1)),
        ...     digest(np.float32(1)) == digest(np.int32(1)),
        ... )
        (True, False)
    """
    if isinstance(value, str):
        return hashlib.blake2b(value.encode(), digest_size=12).hexdigest()
    array = _bits(value)
    return hashlib.blake2b(
        f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes(),
        digest_size=12,
    ).hexdigest()


def differing(topic: str, mine: Mapping[str, str]) -> dict[str, list[str]]:
    """Compares digests of all processes; each must call it.

    Args:
        topic: what they are about, the same text in all processes: `"the program of step 'train'"`.
        mine: digests of this process, by name.

    Returns:
        Those that differ: for each name, the digests of all processes in order.

    Raises:
        ProcessMismatchError: other processes are at another topic, or have other names.
        ClusterWaitError: some process does not call it in time; the message names it.
    """
    texts = exchange("spmd/agreement", json.dumps([topic, dict(mine)]))
    every: list[tuple[str, dict[str, str]]] = [tuple(json.loads(text)) for text in texts]
    for process, (other, theirs) in enumerate(every):
        if other != topic:
            raise ProcessMismatchError(
                f"The processes are at different places: process {jax.process_index()} compares {topic}, "
                f"process {process} compares {other}. All processes must call the same steps in the same "
                "order; look for an `if` over the task's type or index."
            )
        if theirs.keys() != mine.keys():
            only = sorted(theirs.keys() ^ mine.keys())
            raise ProcessMismatchError(
                f"Of {topic}, process {process} and process {jax.process_index()} do not have the same: "
                f"only one of them has {', '.join(only[:4])}{', ...' if len(only) > 4 else ''}. What one "
                "process assigns to a variable, all must assign."
            )
    return {
        name: [theirs[name] for _, theirs in every]
        for name in mine
        if any(theirs[name] != mine[name] for _, theirs in every)
    }


def of_first_process(values: Sequence[jax.Array], mesh: Mesh) -> list[jax.Array]:
    """Gives all processes the values that the first one has, in one transfer.

    Args:
        values: arrays that this process can read, of the same shapes and types in all of them.
        mesh: the devices of all processes.

    Returns:
        Arrays of this process.
    """
    bits = [_bits(value) for value in values]
    packed = np.concatenate([np.ascontiguousarray(one).reshape(-1).view(np.uint8) for one in bits])
    blocks = [np.zeros((1, packed.size), np.uint8) for _ in mesh.local_devices]
    if jax.process_index() == mesh.devices.flat[0].process_index:
        blocks[0] = packed[None]
    spread = place_own(blocks, split_sharding(mesh), mesh.devices.size)
    packed = np.asarray(readable(_summed(mesh)(spread)))
    parts = np.split(packed, np.cumsum([one.nbytes for one in bits])[:-1])
    return [
        _of_bits(part.view(one.dtype).reshape(one.shape), value)
        for part, one, value in zip(parts, bits, values, strict=True)
    ]


def shared_seed() -> int:
    """Returns a random number of 64 bits: another one in every run, the same in all processes.

    Raises:
        ClusterWaitError: the first process does not tell its number in time.
    """
    return _seed(jax.distributed.is_initialized())


@functools.cache
def _seed(in_cluster: bool) -> int:
    number = secrets.randbits(64)
    return int(exchange("spmd/seed", str(number))[0]) if in_cluster else number


class SharedDraws:
    """NumPy's global random numbers, the same in all processes while data is read.

    Keras shuffles with them. They begin with a number that the first process draws from its own.
    """

    def __init__(self) -> None:
        """Agrees on the numbers; all processes call it, in the same order."""
        drawn = str(np.random.randint(2**32, dtype=np.uint32))
        seed = exchange(f"spmd/draws/{next(_DRAWS)}", drawn)[0]
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


def exchange(key: str, text: str) -> tuple[str, ...]:
    """Tells all processes a text, and hears theirs.

    Args:
        key: which exchanges this is one of; the n-th of all processes belong together.
        text: what to tell.

    Returns:
        The texts of all processes, in order.

    Raises:
        ClusterWaitError: some process tells nothing in time; the message names it.
    """
    return store.all_gather_small(key, text, _WAIT_SECONDS)


@functools.lru_cache(maxsize=4)
def _summed(mesh: Mesh) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(
        lambda blocks: blocks.sum(0, dtype=blocks.dtype), out_shardings=whole_sharding(mesh)
    )


def _bits(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, jax.Array):
        value = readable(value)
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            value = jax.random.key_data(value)
    return np.asarray(value)


def _of_bits(bits: np.ndarray[Any, Any], like: jax.Array) -> jax.Array:
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(bits), impl=jax.random.key_impl(like))
    return jnp.asarray(bits)
