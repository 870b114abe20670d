"""Variables and results of layers of `tf.contrib.layers`, and the collections they go to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collections
from frontends.tf.compat.v1.variable_scopes import VariableScope, get_variable

Collections = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
Initializer = Callable[..., Any] | None
Regularizer = Callable[[TensorLike], Any] | None
Scope = str | VariableScope | None


def layer_variable(
    name: str,
    shape: Sequence[int] | None,
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
        variables_collections: names of collections besides `GLOBAL_VARIABLES` and `MODEL_VARIABLES`, or one name; or a dict
            with them by the name of the variable.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES, *collections_of(name, variables_collections)]
    return get_variable(name, shape, dtype, initializer, regularizer, trainable, collections)


def collections_of(name: str, further: Collections) -> list[str]:
    """Lists the collections of a layer's variable: `MODEL_VARIABLES`, and those that a script names."""
    if isinstance(further, Mapping):
        further = further.get(name)
    return [
        GraphKeys.MODEL_VARIABLES,
        *([further] if isinstance(further, str) else further or ()),
    ]


def collected(outputs: Any, outputs_collections: Collections) -> Any:
    """Adds a layer's result to collections, if there are some; returns it."""
    if outputs_collections is not None:
        add_to_collections(outputs_collections, outputs)
    return outputs
