"""What several processes must have in common, compared before it can hang or drift.

Processes run one program if each traces the same step, holds the same mirrored state, and calls in the
same order. Nobody checks that: different programs wait for each other for ever, and different values go
on apart. So whatever did not come out of a common step is compared, by digests through the coordination
service, without the devices: programs when they are first run, values that somebody wrote, arguments.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from spmd.cluster import all_gather_small, progress
from spmd.errors import ProcessMismatchError, some_of
from spmd.topology import layout_of, place_own, readable


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
        content = value.encode()
    else:
        array = _bits(value)
        content = f"{array.dtype}{array.shape}".encode() + array.tobytes()
    return hashlib.blake2b(content, digest_size=12).hexdigest()


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
    with progress.busy(topic):
        texts = all_gather_small("spmd/agreement", json.dumps([topic, dict(mine)]))
    every: list[tuple[str, dict[str, str]]] = [tuple(json.loads(text)) for text in texts]
    for process, (other, theirs) in enumerate(every):
        if other != topic:
            raise ProcessMismatchError(
                f"The processes are at different places: process {jax.process_index()} compares {topic}, "
                f"process {process} compares {other}. All processes must call the same steps in the same "
                "order; look for an `if` over the task's type or index."
            )
        if theirs.keys() != mine.keys():
            raise ProcessMismatchError(
                f"Of {topic}, process {process} and process {jax.process_index()} do not have the same: "
                f"only one of them has {some_of(sorted(theirs.keys() ^ mine.keys()))}. What one "
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
    packed = np.frombuffer(b"".join(one.tobytes() for one in bits), np.uint8)
    layout = layout_of(mesh)
    blocks = [np.zeros((1, packed.size), np.uint8) for _ in range(layout.local_replicas)]
    if jax.process_index() == mesh.devices.flat[0].process_index:
        blocks[0] = packed[None]
    spread = place_own(blocks, layout)
    packed = np.asarray(readable(_summed(mesh)(spread)))
    parts = np.split(packed, np.cumsum([one.nbytes for one in bits])[:-1])
    return [
        _of_bits(part.view(one.dtype).reshape(one.shape), value)
        for part, one, value in zip(parts, bits, values, strict=True)
    ]


@functools.lru_cache(maxsize=4)
def _summed(mesh: Mesh) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(
        lambda blocks: blocks.sum(0, dtype=blocks.dtype), out_shardings=layout_of(mesh).whole
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
