"""`tf.vectorized_map`: a function called once for all rows."""

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import Nested, VariableLike
from frontends.tf.ops import carried
from frontends.tf.ops.rows import arrays_of, row_of, rows_of, stack_results
from spmd import _jax_internals
from spmd.errors import StateError
from spmd.state import WRITE_OBSERVERS, adapter_of


def vectorized_map(
    fn: Callable[[Any], Any],
    elems: Nested,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """Calls a function once with all rows, as if with each, and stacks the results: `jax.vmap`.

    What cannot be vectorized is called row by row, as by `map_fn`: functions that look at values, or draw
    random numbers.

    Args:
        fn: takes a row of each array of `elems`, in their structure.
        elems: structure of arrays with as many rows each, or one row for all.
        fallback_to_while_loop: whether to call it row by row where it must be; else that is an error.

    Returns:
        In the structure of the result, arrays with a row for each row.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `elems` are not arrays with equally many rows; or `fn` cannot be vectorized.

    Source: `tf.vectorized_map`.
    """
    arrays = arrays_of(elems)
    count = max((len(leaf) for leaf in nest.flatten(arrays) if leaf.ndim), default=0)
    rows, count = rows_of(
        "tf.vectorized_map",
        fn,
        nest.map_structure(
            lambda leaf: (
                jnp.broadcast_to(leaf, (count, *leaf.shape[1:]))
                if leaf.ndim and len(leaf) == 1
                else leaf
            ),
            arrays,
        ),
    )
    writes = _Writes()
    error: Exception | None = None
    result = None
    try:
        with writes.watched():
            result = jax.vmap(lambda row: carried.as_arrays(fn(row)))(rows)
    except _NOT_VECTORIZED as caught:
        error = caught
    if error is None and not writes.former:
        return result
    writes.undo()
    if not fallback_to_while_loop:
        why = "it draws random numbers or assigns variables" if error is None else str(error)
        raise ValueError(
            f"tf.vectorized_map cannot call this function for all rows at once: {why.partition(chr(10))[0]} Use "
            "tf.map_fn, or leave out fallback_to_while_loop=False."
        ) from error
    if _jax_internals.is_tracing():
        return carried.scan(lambda none, row: (none, None, carried.as_arrays(fn(row))), None, rows)[
            2
        ]
    results = [carried.as_arrays(fn(row_of(rows, index))) for index in range(count)]
    return stack_results(results, results[0])


_NOT_VECTORIZED = (
    NotImplementedError,
    StateError,
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


class _Writes:
    """What variables held before code wrote them."""

    def __init__(self) -> None:
        self.former: list[tuple[Any, Any]] = []

    @contextlib.contextmanager
    def watched(self) -> Generator[None]:
        """Takes note of the writes of a block."""
        WRITE_OBSERVERS.add(self)
        try:
            yield
        finally:
            WRITE_OBSERVERS.discard(self)

    def on_overwrite(self, variable: VariableLike, value: Any) -> None:
        """Takes note of what a variable held."""
        self.former.append((variable, value))

    def detached(self, value: Any) -> Any:
        """Returns what a variable is to hold."""
        return value

    def undo(self) -> None:
        """Gives the variables what they held before."""
        for variable, value in reversed(self.former):
            adapter = adapter_of(variable)
            assert adapter is not None
            adapter.set(variable, value)
