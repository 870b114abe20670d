"""What gradients are asked for: variables, arrays and structures of them."""

import dataclasses
import gc
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.indexed_slices import IndexedSlices, on_values
from spmd.recording import RowGradient, added
from spmd.replica import current_frame, is_per_replica
from spmd.state import adapter_of

LEAF = jax.tree.structure(0)


@dataclasses.dataclass
class Sources:
    """What gradients are asked for.

    Attributes:
        values: arrays.
        connected: the same arrays, with None for those that are not watched.
        by_rows: of each, whether its gradient may be one of rows, which other libraries do not know.
        structure: of lists, tuples and dictionaries.
        inner: for each leaf of it, the structure of another library below it.
        former: what variables held before they were written, by the index of the source.
    """

    values: list[Any]
    connected: list[Any]
    by_rows: list[bool]
    structure: Any
    inner: list[Any]
    former: list[tuple[int, Any]]

    def arrays(self) -> list[Any]:
        """Lists what to differentiate by: the sources, then what variables among them held before."""
        return [*self.connected, *(value for _, value in self.former)]

    def collect(self, gradients: list[Any]) -> list[Any]:
        """Sums the gradients of all values that one variable held, and conjugates them as TensorFlow does."""
        sums = gradients[: len(self.values)]
        for (index, _), gradient in zip(self.former, gradients[len(self.values) :], strict=True):
            if gradient is not None:
                sums[index] = gradient if sums[index] is None else added(sums[index], gradient)
        return conjugates(
            [
                _slices(gradient, by_rows) if isinstance(gradient, RowGradient) else gradient
                for gradient, by_rows in zip(sums, self.by_rows, strict=True)
            ]
        )

    def rebuild(self, gradients: list[Any]) -> Any:
        """Puts gradients into the structure that the sources came in."""
        rest = iter(gradients)
        leaves = [
            jax.tree.unflatten(inner, [next(rest) for _ in range(inner.num_leaves)])
            for inner in self.inner
        ]
        return jax.tree.unflatten(self.structure, leaves)


def _slices(gradient: RowGradient, by_rows: bool) -> Any:
    if not by_rows:
        return gradient.whole()
    return IndexedSlices(gradient.values, gradient.indices, gradient.shape)


def is_plain(leaf: object) -> bool:
    """Tells whether a leaf is an array, or a variable of TensorFlow or Keras: their optimizers take gradients of rows."""
    # Of these variables alone one asks whether they are trainable.
    return isinstance(leaf, jax.Array) or hasattr(type(leaf), "trainable")


def is_variable(leaf: object) -> bool:
    """Tells whether a leaf is a variable, of any library."""
    adapter = adapter_of(leaf)
    return adapter is not None and adapter.is_variable(leaf)


def known_variables() -> list[Any]:
    """Lists the variables that code can have read: those of the step that is traced, or all that there are."""
    frame = current_frame()
    if frame is not None:
        return [*getattr(frame.table, "variables", ()), *(variable for variable, _ in frame.made)]
    # By class, since there are a million objects.
    kinds: dict[type, bool] = {}
    found: list[Any] = []
    for one in gc.get_objects():
        kind = type(one)
        if kind not in kinds:
            kinds[kind] = adapter_of(one) is not None
        if kinds[kind] and is_variable(one):
            found.append(one)
    return found


def value_of(leaf: TensorLike) -> Any:
    """Takes the value of a variable; others as they are. A variable that is being made counts as zeros."""
    adapter = adapter_of(leaf)
    if adapter is None or not adapter.is_variable(leaf):
        return leaf
    value = adapter.get(leaf)
    return jnp.zeros(leaf.shape, leaf.dtype) if value is None else value


def leaves_of(tree: Nested) -> list[Any]:
    """Lists the arrays and variables in a structure."""
    return jax.tree.leaves(tree, is_leaf=lambda leaf: is_variable(leaf) or is_per_replica(leaf))


def is_below_plain(tree: Nested) -> bool:
    """Tells whether a part of a structure is no list, tuple or dictionary: a leaf, or a structure of another library."""
    return tree is not None and not isinstance(tree, (list, tuple, dict))


def conjugates(values: list[Any]) -> list[Any]:
    """Turns gradients with respect to complex arrays from JAX's convention into TensorFlow's, or back.

    TensorFlow's gradient points uphill; JAX's is its conjugate.
    """

    def conjugate(value: Any) -> Any:
        is_complex = value is not None and jnp.issubdtype(value.dtype, jnp.complexfloating)
        return on_values(jnp.conj, value) if is_complex else value

    return list(map(conjugate, values))


def weights_of(targets: list[Any], output_gradients: Nested) -> list[Any]:
    """Takes weights apart like the target, and broadcasts them to it.

    Raises:
        ValueError: there are more or fewer than targets.
    """
    leaves = jax.tree.leaves(output_gradients, is_leaf=lambda leaf: leaf is None)
    if len(leaves) != len(targets):
        raise ValueError(
            f"output_gradients has {len(leaves)} entries, but the target has {len(targets)}. Give one "
            "for each array of the target, or None for ones."
        )
    return [
        jnp.ones_like(target)
        if leaf is None
        else jnp.broadcast_to(jnp.asarray(leaf, target.dtype), target.shape)
        for target, leaf in zip(targets, leaves, strict=True)
    ]
