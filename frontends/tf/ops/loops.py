"""`tf.scan`, `tf.foldl`, `tf.foldr` and `tf.map_fn`: a function called with one row after another.

Eagerly they are Python's loops, so that functions see values and gradients flow through them. In a program a
function is traced once, and may assign variables.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops import carried
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.rows import array_of, arrays_of, differ, row_of, rows_of, stack_results
from spmd import _jax_internals


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: Nested = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Calls a function with what it returned and the next row, and stacks all that it returned.

    Args:
        fn: takes its last result and a row, returns a structure like `initializer`.
        elems: structure of arrays with as many rows each.
        initializer: what the first call gets; None takes the first row, which then is the first result.
        reverse: whether to begin with the last row; the results are in the order of the rows.

    Returns:
        In the structure of `initializer`, arrays with a result for each row.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `elems` are not arrays with equally many rows, or `fn` returns another structure.

    Source: `tf.scan`.
    """
    rows, count = rows_of("tf.scan", fn, elems)
    first = None
    if initializer is None:
        first, rows, count = _without_first("tf.scan", rows, count, reverse)
        carry = first
    else:
        carry = arrays_of(initializer)
    step = _folding("tf.scan", fn, carry)
    if _jax_internals.is_tracing():
        stacked = carried.scan(_twice(step), carry, rows, reverse=reverse)[2]
    else:
        results: list[Any] = []
        for index in _indices(count, reverse):
            carry = step(carry, row_of(rows, index))
            results.append(carry)
        stacked = stack_results(results[::-1] if reverse else results, carry)
    if first is None:
        return stacked

    def with_first(one: Any, others: Any) -> Any:
        return jnp.concatenate([others, one[None]] if reverse else [one[None], others])

    return nest.map_structure(with_first, first, stacked)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: Nested = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Calls a function with what it returned and the next row, from the first to the last; see `scan`.

    Returns:
        The last result.

    Source: `tf.foldl`.
    """
    return _fold("tf.foldl", fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: Nested = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Calls a function with what it returned and the next row, from the last to the first; see `scan`.

    Returns:
        The last result.

    Source: `tf.foldr`.
    """
    return _fold("tf.foldr", fn, elems, initializer, reverse=True)


def _fold(
    caller: str,
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: Nested,
    *,
    reverse: bool,
) -> Any:
    rows, count = rows_of(caller, fn, elems)
    if initializer is None:
        carry, rows, count = _without_first(caller, rows, count, reverse)
    else:
        carry = arrays_of(initializer)
    step = _folding(caller, fn, carry)
    if _jax_internals.is_tracing():
        return carried.scan(
            lambda now, row: (step(now, row), None, None), carry, rows, reverse=reverse
        )[0]
    for index in _indices(count, reverse):
        carry = step(carry, row_of(rows, index))
    return carry


def map_fn(
    fn: Callable[[Any], Any],
    elems: Nested,
    dtype: Nested = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Nested = None,
) -> Any:
    """Calls a function with each row, one after another, and stacks the results.

    Args:
        fn: takes a row of each array of `elems`, in their structure.
        elems: structure of arrays with as many rows each.
        dtype: the former name of `fn_output_signature`.
        fn_output_signature: dtypes or specs of the result, in its structure, or one for all; None means the
            dtypes of `elems`. With a `tf.RaggedTensorSpec`, and over ragged tensors, it works on the host.

    Returns:
        In the structure of the result, arrays with a row for each row, or ragged tensors.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `elems` are not arrays with equally many rows, or a result has another dtype than was said.

    Source: `tf.map_fn`.
    """
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(hasattr(leaf, "ragged_rank") for leaf in nest.flatten((elems, signature))):
        # Who has ragged tensors has loaded this.
        from frontends.tf.ragged.mapping import map_rows

        return map_rows(fn, elems, signature)
    rows, count = rows_of("tf.map_fn", fn, elems)
    fn = converted(fn)  # as TensorFlow does here, and nowhere else in this file

    def call(row: Nested) -> Any:
        return _signed(fn(row), rows if signature is None else signature, signature is None)

    if _jax_internals.is_tracing():
        return carried.scan(lambda none, row: (none, None, call(row)), None, rows)[2]
    if not count:
        return nest.map_structure(_empty, rows if signature is None else signature)
    results = [call(row_of(rows, index)) for index in range(count)]
    return stack_results(results, results[0])


def _indices(count: int, reverse: bool) -> range:
    return range(count - 1, -1, -1) if reverse else range(count)


def _without_first(caller: str, rows: Nested, count: int, reverse: bool) -> tuple[Any, Any, int]:
    """Splits the row that comes first off the others."""
    if not count:
        raise ValueError(f"{caller}: there is no row to begin with. Give an initializer.")
    rest = slice(None, -1) if reverse else slice(1, None)
    return (
        row_of(rows, -1 if reverse else 0),
        nest.map_structure(lambda leaf: leaf[rest], rows),
        count - 1,
    )


def _folding(caller: str, fn: Callable[[Any, Any], Any], like: Nested) -> Callable[[Any, Any], Any]:
    def step(now: Nested, row: Nested) -> Any:
        result = fn(now, row)
        if differ(like, result):
            raise ValueError(
                f"{caller}: fn must return a structure like the initializer, "
                f"{nest.map_structure(lambda _: '.', like)}, but returned "
                f"{nest.map_structure(lambda _: '.', result)}."
            )
        return nest.pack_sequence_as(like, map(array_of, nest.flatten(result)))

    return step


def _twice(step: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Makes a step return what goes on and what is stacked, which are the same."""

    def call(now: Nested, row: Nested) -> Any:
        new = step(now, row)
        return new, None, new

    return call


def _signed(result: Nested, signature: Nested, implied: bool) -> Any:
    """Makes arrays of a result, of the dtypes that were said."""
    said = nest.flatten(signature)
    leaves = nest.flatten(result)
    said = said * len(leaves) if len(said) == 1 else said
    if len(said) != len(leaves):
        raise ValueError(
            f"tf.map_fn: fn returned {len(leaves)} arrays, but "
            + (
                f"elems has {len(said)}. "
                if implied
                else f"fn_output_signature names {len(said)}. "
            )
            + "Say what it returns: fn_output_signature=(tf.float32, tf.int32)."
        )
    arrays: list[Any] = []
    for leaf, one in zip(leaves, said, strict=True):
        dtype = jax_dtype(getattr(one, "dtype", one))
        array = convert_to_tensor(leaf, dtype_hint=dtype)
        if array.dtype != dtype:
            raise ValueError(
                f"TensorArray dtype is {dtype} but tf.map_fn's fn returned dtype {array.dtype}. Say so: "
                f"fn_output_signature=tf.{array.dtype}."
            )
        arrays.append(array)
    return nest.pack_sequence_as(result, arrays)


def _empty(said: Any) -> Any:
    shape: Any = getattr(said, "shape", ())
    if isinstance(said, jax.Array | np.ndarray):
        shape = shape[1:]
    known = shape if shape is not None and None not in shape else ()
    return jnp.zeros((0, *known), jax_dtype(getattr(said, "dtype", said)))
