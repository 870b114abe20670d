"""Variables and results of layers of `tf.contrib.layers`, and the collections they go to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collections
from frontends.tf.compat.v1.variable_scopes import VariableScope, get_variable

Collections = str | Sequence[str] | Mapping[str, Sequence[str]] | None
Initializer = Callable[..., Any] | None
Regularizer = Callable[[TensorLike], Any] | None
Scope = str | VariableScope | None


def layer_variable(
    name: str,
    shape: Sequence[int],
    dtype: DTypeLike,
    initializer: Initializer,
    regularizer: Regularizer = None,
    trainable: bool = True,
    variables_collections: Collections = None,
) -> Any:
    """Makes a variable of a layer, or finds it.

    Args:
        name: below the scope.
        shape: of the variable.
        dtype: of the variable.
        initializer: see `tf.get_variable`.
        regularizer: likewise.
        trainable: likewise.
        variables_collections: names of collections, or a dict with them by the name of the variable.
    """
    further = variables_collections
    if isinstance(further, Mapping):
        further = further.get(name)
    collections = [GraphKeys.GLOBAL_VARIABLES, *(further or ())]
    return get_variable(name, shape, dtype, initializer, regularizer, trainable, collections)


def collected(outputs: Any, outputs_collections: Collections) -> Any:
    """Adds a layer's result to collections, if there are some; returns it."""
    if outputs_collections is not None:
        add_to_collections(outputs_collections, outputs)
    return outputs
