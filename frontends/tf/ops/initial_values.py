"""What a program computes once, before it runs: initial values of variables, constants of layers.

TensorFlow lifts such code out of the functions around it. Here it computes at once, while the program is traced.
"""

import contextlib
from collections.abc import Generator

from frontends.tf.ops.map_stream import initial_draws
from spmd import _jax_internals
from spmd.replica import computing_at_once


@contextlib.contextmanager
def init_scope() -> Generator[None]:
    """Computes what is in the block at once, not as a part of the program that is traced around it.

    What depends on the arguments of that program stays a part of it. Random numbers are other ones for each draw, and the
    same on all replicas: those of a `tf.random.set_seed`, if it was called.

    Examples:
        >>> from frontends import tf
        >>> @tf.function
        ... def step(x):
        ...     with tf.init_scope():
        ...         table = tf.range(3)
        ...     print(table)
        ...     return x
        >>> _ = step(tf.constant(1.0))
        [0 1 2]

    Source: `tf.init_scope`.
    """
    if not _jax_internals.is_tracing():
        yield
        return
    with computing_at_once(), initial_draws():
        yield
