"""The parts of a variable that is divided among parameter servers, as `layer.weights` and `variable.variables` list them.

A variable stays one in the program: what computes, trains and saves it takes the whole. A part is a view of some of
its rows; a tape and an optimizer take the whole variable in its place.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, Nested, TensorLike, VariableLike
from frontends.tf._user_view import as_dtype_seen, as_shape_seen, seen_by_users
from frontends.tf.distribute.device_names import devices_of
from frontends.tf.indexed_slices import is_slices
from frontends.tf.variable_component import shown
from spmd.replica import ArrayLike
from spmd.servers import ServerVariables, Shard
from spmd.state import Update, backing_of, push


class VariablePart(ArrayLike):
    """Some rows of a variable, which one parameter server holds.

    Attributes:
        name: of the part.
        device: the server.
        whole: the variable.

    Source: the elements of TensorFlow's `ShardedVariable.variables`.
    """

    __slots__ = ("_rows", "device", "name", "whole")

    def __init__(self, whole: VariableLike, shard: Shard, name: str, device: str) -> None:
        """Makes the view; `parts_of` makes one for each part."""
        self.whole, self.name, self.device = whole, name, device
        self._rows = slice(shard.start, shard.stop)

    @property
    def trainable(self) -> bool:
        """Whether the variable is."""
        return bool(self.whole.trainable)

    def take(self, value: Any) -> Any:
        """Returns the part's rows of a value of the variable, such as its gradient; of None, None."""
        if value is None:
            return None
        return (jnp.asarray(value) if is_slices(value) else value)[self._rows]

    def value(self) -> jax.Array:
        """Returns the rows."""
        return self.take(jnp.asarray(self.whole))

    read_value = value

    def numpy(self) -> Any:
        """Returns the rows in host memory."""
        return np.array(self.value())

    def assign(self, value: TensorLike, **kwargs: object) -> "VariablePart":
        """Writes the rows; those of other parts stay as they are."""
        array = jnp.broadcast_to(jnp.asarray(value, self._dtype), self._shape)
        rows = np.arange(self._rows.start, self._rows.stop)
        push([Update(holder_of(self.whole), "set", array, (rows,))])
        return self

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self._rows.stop - self._rows.start, *self.whole.shape[1:])

    @property
    def _dtype(self) -> Any:
        return jnp.dtype(str(getattr(self.whole.dtype, "name", self.whole.dtype)))

    shape = seen_by_users(
        lambda self: self._shape, lambda self: as_shape_seen(self._shape), "Its shape."
    )
    dtype = seen_by_users(
        lambda self: self._dtype, lambda self: as_dtype_seen(self._dtype), "Type of its elements."
    )

    def __jax_array__(self) -> jax.Array:
        return self.value()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        del copy
        return np.asarray(self.value(), dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __len__(self) -> int:
        return self._shape[0]

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return shown(self.name, self.value(), as_shape_seen(self._shape))


def holder_of(variable: VariableLike) -> VariableLike:
    """Returns the variable that holds the value: the `tf.Variable` that is among a layer's weights, or this one."""
    return getattr(variable, "stands_for", variable)


def parts_of(variable: VariableLike) -> list[VariablePart]:
    """Lists the parts of a variable; none if it is not divided among parameter servers."""
    holder = holder_of(variable)
    backing = backing_of(holder)
    if not isinstance(backing, ServerVariables):
        return []
    place = backing.place_of(holder)
    if place is None or len(place[1]) == 1:
        return []
    name = str(variable.name).removesuffix(":0")
    return [
        VariablePart(variable, shard, f"{name}/part_{index}:0", device)
        for index, (shard, device) in enumerate(zip(place[1], devices_of(holder), strict=True))
    ]


def with_parts(variables: Sequence[VariableLike]) -> list[VariableLike]:
    """Lists variables, with the parts in place of those that are divided."""
    return [one for variable in variables for one in parts_of(variable) or [variable]]


def whole_sources(sources: Nested) -> tuple[Nested, Callable[[Any], Any]]:
    """Puts variables in place of their parts, in what gradients are asked for.

    Returns:
        The sources, and what makes gradients of them gradients of the parts.
    """
    leaves, structure = jax.tree.flatten(sources, is_leaf=_is_part)
    if not any(map(_is_part, leaves)):
        return sources, lambda gradients: gradients

    def take(gradients: Any) -> Any:
        found = structure.flatten_up_to(gradients)
        taken = [
            leaf.take(gradient) if _is_part(leaf) else gradient
            for leaf, gradient in zip(leaves, found, strict=True)
        ]
        return structure.unflatten(taken)

    wholes = [leaf.whole if _is_part(leaf) else leaf for leaf in leaves]
    return structure.unflatten(wholes), take


def whole_pairs(
    gradients: Sequence[Any], variables: Sequence[VariableLike]
) -> tuple[list[Any], list[VariableLike]]:
    """Puts variables in place of their parts, in what an optimizer is to apply.

    Args:
        gradients: of each of the variables, or None.
        variables: variables and parts.

    Raises:
        ValueError: a part of a variable is missing.
    """
    joined: list[tuple[Any, VariableLike]] = []
    found: dict[int, dict[str, Any]] = {}
    for gradient, variable in zip(gradients, variables, strict=True):
        if not _is_part(variable):
            joined.append((gradient, variable))
            continue
        whole = variable.whole
        if id(whole) not in found:
            joined.append((None, whole))
        found.setdefault(id(whole), {})[variable.name] = gradient
    for index, (_, variable) in enumerate(joined):
        own = found.get(id(variable))
        if own is None:
            continue
        names = [part.name for part in parts_of(variable)]
        if own.keys() != set(names):
            raise ValueError(
                f"An optimizer got the parts {', '.join(own)} of a variable that has {len(names)}. Pass all of them, or the "
                "variable itself."
            )
        if all(gradient is not None for gradient in own.values()):
            whole = jnp.concatenate([jnp.asarray(own[name]) for name in names])
            joined[index] = whole, variable
    return [gradient for gradient, _ in joined], [variable for _, variable in joined]


def whole_variables(variables: Iterable[VariableLike]) -> list[VariableLike]:
    """Lists variables once each, in place of their parts."""
    wholes = [one.whole if _is_part(one) else one for one in variables]
    return list({id(one): one for one in wholes}.values())


def _is_part(leaf: object) -> bool:
    return isinstance(leaf, VariablePart)
