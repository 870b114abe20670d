"""Rows of arrays, and results for each row: what the functions share that go over rows."""

from typing import Any

import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.ops.carried import is_tensor_array
from frontends.tf.ops.convert import convert_to_tensor


def array_of(leaf: TensorLike) -> Any:
    """Makes an array of a leaf; None and TensorArrays stay."""
    return leaf if leaf is None or is_tensor_array(leaf) else convert_to_tensor(leaf)


def arrays_of(tree: Nested) -> Any:
    """Makes arrays of the leaves of a structure."""
    return nest.map_structure(array_of, tree)


def differ(one: Nested, other: Nested) -> bool:
    """Tells whether two structures differ."""
    try:
        nest.assert_same_structure(one, other, check_types=False)
    except (TypeError, ValueError):
        return True
    return False


def rows_of(caller: str, fn: object, elems: Nested) -> tuple[Any, int]:
    """Makes arrays of what a function goes over, and counts their rows.

    Args:
        caller: TensorFlow's name of who asks.
        fn: the function, which must be callable.
        elems: structure of arrays.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: the arrays have no rows, or not equally many.
    """
    if not callable(fn):
        raise TypeError(f"{caller}: fn must be callable, got {fn!r}.")
    rows = arrays_of(elems)
    leaves = nest.flatten(rows)
    if not leaves or any(not leaf.ndim for leaf in leaves):
        raise ValueError(
            f"{caller}: elements in elems must be 1+ dimensional arrays, not scalars. Give arrays with rows."
        )
    if len({len(leaf) for leaf in leaves}) > 1:
        raise ValueError(
            f"{caller}: the arrays of elems have {', '.join(str(len(leaf)) for leaf in leaves)} rows. Give arrays "
            "with equally many."
        )
    return rows, len(leaves[0])


def row_of(rows: Nested, index: int) -> Any:
    """Takes a row of each array of a structure."""
    return nest.map_structure(lambda leaf: leaf[index], rows)


def stack_results(results: list[Any], like: Nested) -> Any:
    """Stacks structures of arrays; without any, makes arrays without rows like those of `like`."""
    columns = zip(*map(nest.flatten, results), strict=True)
    if not results:
        return nest.map_structure(lambda leaf: jnp.zeros((0, *leaf.shape), leaf.dtype), like)
    return nest.pack_sequence_as(like, [jnp.stack(column) for column in columns])
