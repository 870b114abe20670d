"""`keras.RematScope` and `keras.remat`: activations that are computed again in the backward pass, which saves memory.

`jax.checkpoint` takes pure functions of arrays. What a layer is called with besides arrays, such as `training=True`,
has to stay out of it, and what the layer writes, such as moving averages and the state of a generator, has to come out of it.

Touches Keras internals, which tests/spmd/integrations/keras/test_rematerialization.py runs on every supported version:
`Layer._flatten_layers` and `._loss_ids`.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import keras

from spmd.integrations.keras.typing import Method
from spmd.state import discover


def rematerialized(remat: Method, f: Callable[..., Any], /) -> Callable[..., Any]:
    """Replaces Keras's `remat`, which hands `f` to `jax.checkpoint` as it is.

    Args:
        remat: Keras's own.
        f: a layer's `call`, or any function; it may read and assign Keras variables, and a layer may add losses.

    Raises:
        ValueError: when it is called: a layer that a function calls adds a loss, which has no layer to belong to.

    Source: `keras.remat`, `jax.checkpoint`.
    """
    del remat
    layer: Any = getattr(f, "__self__", None)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = jax.tree.flatten((args, kwargs))
        where = [index for index, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
        table, _ = discover(f)
        variables = [one for one in table.variables if isinstance(one, keras.Variable)]
        written: list[int] = []

        def run(arrays: Sequence[Any], values: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
            given = list(leaves)
            for index, array in zip(where, arrays, strict=True):
                given[index] = array
            positional, named = jax.tree.unflatten(structure, given)
            scope = keras.StatelessScope(
                list(zip(variables, values, strict=True)),
                collect_losses=True,
                initialize_variables=False,
            )
            before = list(map(scope.get_current_value, variables))
            with scope:
                result = f(*positional, **named)
            after = list(map(scope.get_current_value, variables))
            written[:] = [
                index
                for index, (old, new) in enumerate(zip(before, after, strict=True))
                if new is not old
            ]
            _forget_losses(scope.losses, layer)
            return result, [after[index] for index in written], scope.losses

        values = [variable.value for variable in variables]
        result, new, losses = jax.checkpoint(run)([leaves[index] for index in where], values)
        for index, value in zip(written, new, strict=True):
            variables[index].assign(value)
        if losses and not isinstance(layer, keras.Layer):
            raise ValueError(
                f"keras.remat was given {f!r}, which is no method of a layer, and a layer that it calls adds a loss. Make the "
                'layers in a scope instead: with keras.RematScope(mode="full"): ...'
            )
        for loss in losses:
            layer.add_loss(loss)
        return result

    return call


def _forget_losses(losses: Sequence[Any], layer: Any) -> None:
    """Has a layer and those in it forget losses, which the layer adds once more.

    Keras knows a loss by its `id`. A later loss may get the `id` of one freed by then, and would count for two layers.
    """
    if isinstance(layer, keras.Layer):
        gone = set(map(id, losses))
        tree: Any = layer
        for inner in tree._flatten_layers():
            inner._loss_ids -= gone
