"""Computing arrays at once while a program is traced: initial values of what outlives the trace."""

import contextlib
from collections.abc import Generator

import jax
from jax.sharding import AbstractMesh, use_abstract_mesh

# Of the replicas around the block: what is computed at once is an array as any other.
_NO_MESH = AbstractMesh((), ())


@contextlib.contextmanager
def computing_at_once() -> Generator[None]:
    """Computes what is in the block at once, not as a part of the program that is traced around it.

    What depends on the arguments of that program stays a part of it.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> @jax.jit
        ... def program(x):
        ...     with computing_at_once():
        ...         print(jnp.arange(3) * 2)
        ...     return x
        >>> _ = program(1.0)
        [0 2 4]
    """
    with jax.ensure_compile_time_eval(), use_abstract_mesh(_NO_MESH):
        yield
