"""`tf.xla.experimental`: ways of asking for XLA, which compiles every program here."""

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax

from frontends.tf._names import attributes
from frontends.tf.function import function
from spmd import _jax_internals


@contextlib.contextmanager
def jit_scope(
    compile_ops: bool = True, separate_compiled_gradients: bool = False
) -> Generator[None]:
    """Does nothing: all operations of a program are compiled.

    Raises:
        RuntimeError: outside of a program, as in TensorFlow.

    Source: `tf.xla.experimental.jit_scope`.
    """
    if not _jax_internals.is_tracing():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Use it inside of a "
            "tf.function, which XLA compiles with or without it."
        )
    yield


def compile_(
    computation: Callable[..., Any], inputs: Sequence[Any] | None = None
) -> list[jax.Array]:
    """Computes a function as a program.

    Args:
        computation: takes tensors; returns tensors, or None.
        inputs: its arguments.

    Returns:
        What it returned, as a list of tensors.

    Raises:
        TypeError: `inputs` is no list or tuple.

    Examples:
        >>> [int(x) for x in compile_(lambda a, b: (a + b, a), [1, 2])]
        [3, 1]

    Source: `tf.xla.experimental.compile`.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError(
            f"`inputs` must be a list or tuple of arguments, but got a {type(inputs).__name__}: write [x]."
        )
    arrays = list(map(jax.numpy.asarray, inputs or ()))
    result = computation(*arrays) if _jax_internals.is_tracing() else function(computation)(*arrays)
    return list(map(jax.numpy.asarray, jax.tree.leaves(result)))


__getattr__, __dir__ = attributes(
    "tf.xla.experimental", {"jit_scope": jit_scope, "compile": compile_}
)
