"""Flax NNX modules in Keras models.

A module's variables become the layer's, which Keras, and the engine under `fit`, read and write. The module is split
when the layer is made, and merged from the layer's variables for each call.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import keras
from flax import nnx

from spmd.replica import in_replica
from spmd.step import fold_key
from spmd.typing import PyTree

# How Keras holds the variables of each type; the last one is of all others.
_HELD: dict[Any, dict[str, Any]] = {
    nnx.Param: {"trainable": True},
    nnx.BatchStat: {"trainable": False, "autocast": False, "aggregation": "mean"},
    ...: {"trainable": False, "autocast": False},
}


@dataclasses.dataclass(frozen=True)
class _Part:
    """A value of a module, and the weight of the layer that holds it.

    Attributes:
        name: its path in the module.
        weight: of Keras.
        trained: whether an optimizer writes it.
        impl: of the random keys whose data it holds; None for other values.
    """

    name: str
    weight: Any
    trained: bool
    impl: Any

    @property
    def value(self) -> Any:
        """As the module has it."""
        value = self.weight.value
        return value if self.impl is None else jax.random.wrap_key_data(value, impl=self.impl)


class NNXLayer(keras.layers.Layer):
    """A Flax NNX module as a layer of a Keras model; Linen modules have `keras.layers.FlaxLayer`.

    `nnx.Param` becomes trainable weights, and all other state non-trainable ones: `nnx.BatchStat`,
    which replicas average, and the keys and counts of `nnx.Rngs`, from which every replica draws
    numbers of its own. The module is switched to `train()` or `eval()` by Keras's `training`.

    A module does not know that a partial batch is padded. If it computes over rows, give it the
    valid ones: `nnx.BatchNorm` takes `mask=spmd.valid_rows()[:, None]` where `spmd.replica.in_replica()`.

    `model.save_weights` saves the weights. For `model.save`, write a subclass that makes its module from
    plain arguments, as Keras expects of every layer; the example is one.

    Args:
        module: called with the inputs of the layer, an array or a pytree of arrays. The layer copies
            its values; the object itself stays as it is.
        **kwargs: of `keras.layers.Layer`, such as `name`.

    Raises:
        TypeError: `module` is not an `nnx.Module`.
        ValueError: a call added variables (`sow`) or removed some.

    Examples:
        >>> import keras
        >>> from flax import nnx
        >>> from spmd.integrations.keras_nnx import NNXLayer
        >>> class Normalized(NNXLayer):
        ...     def __init__(self, features, **kwargs):
        ...         norm = nnx.BatchNorm(features, rngs=nnx.Rngs(0))
        ...         super().__init__(norm, **kwargs)
        >>> model = keras.Sequential([keras.Input((4,)), Normalized(4), keras.layers.Dense(1)])
        >>> [weight.name for weight in model.weights]
        ['bias', 'scale', 'mean', 'var', 'kernel', 'bias']
        >>> len(model.trainable_weights), model.count_params()
        (4, 21)
        >>> model.layers[0].module.use_running_average
        False

    Source: `keras.layers.FlaxLayer`, for modules of Flax Linen.
    """

    def __init__(self, module: nnx.Module, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(module, nnx.Module):
            raise TypeError(
                f"NNXLayer needs an nnx.Module, but got {module!r}. Make the module first: "
                "NNXLayer(nnx.Linear(3, 4, rngs=nnx.Rngs(0))). Modules of Flax Linen go into "
                "keras.layers.FlaxLayer."
            )
        self._definition, *groups = nnx.split(module, *_HELD)
        self._structure = jax.tree.structure(groups)
        self._parts: list[_Part] = []
        for group, held in zip(groups, _HELD.values(), strict=True):
            for name, value in _named(group):
                typed = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
                # Keras overwrites the memory of its own arrays.
                data = jnp.copy(jax.random.key_data(value) if typed else value)
                weight = self.add_weight(data.shape, data, data.dtype, name=name, **held)
                impl = jax.random.key_impl(value) if typed else None
                self._parts.append(_Part(name, weight, held["trainable"], impl))
        self.built = True

    @property
    def module(self) -> nnx.Module:
        """A module like the one that was given, with the layer's current values."""
        return self._module_of([jnp.copy(part.value) for part in self._parts])

    def call(self, inputs: PyTree, training: bool = False) -> PyTree:
        """Calls the module, in `train()` or `eval()`, and stores the state that it changed."""
        before = [
            fold_key(part.value) if part.impl is not None and in_replica() else part.value
            for part in self._parts
        ]
        module = self._module_of(before)
        (module.train if training else module.eval)()
        outputs = module(inputs)
        _, *groups = nnx.split(module, *_HELD)
        after = [named for group in groups for named in _named(group)]
        changed = {name for name, _ in after} ^ {part.name for part in self._parts}
        if changed:
            raise ValueError(
                f"A call of the module in the layer {self.name!r} added or took away the variables "
                f"{sorted(changed)}. Expected: those that it was made with. Make them with it, or take "
                "them out before its call returns: nnx.pop(self, nnx.Intermediate)."
            )
        for part, old, (_, new) in zip(self._parts, before, after, strict=True):
            # Transformations in a module write parameters back unchanged; those are the optimizer's.
            if new is not old and not part.trained:
                part.weight.assign(new if part.impl is None else jax.random.key_data(new))
        return outputs

    def _module_of(self, values: list[Any]) -> nnx.Module:
        return nnx.merge(self._definition, *jax.tree.unflatten(self._structure, values))


def _named(group: PyTree) -> list[tuple[str, Any]]:
    """Lists the values in one of a module's groups of variables, by their dotted paths."""
    return [
        (jax.tree_util.keystr(path, simple=True, separator=".").removesuffix(".value"), value)
        for path, value in jax.tree_util.tree_leaves_with_path(group)
    ]
