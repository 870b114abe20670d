"""`tf.contrib.layers.batch_norm` and `layer_norm`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from frontends.tf import nn
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collections, get_collection_ref
from frontends.tf.compat.v1.initializers.constants import Ones, Zeros
from frontends.tf.compat.v1.layers.normalization import BatchNormalization
from frontends.tf.compat.v1.slots import name_of
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.contrib.arg_scopes import add_arg_scope
from frontends.tf.contrib.layer_variables import (
    Collections,
    Scope,
    collected,
    collections_of,
    layer_variable,
)
from frontends.tf.graph import current_graph
from frontends.tf.ops.convert import convert_to_tensor

# What is added to a variance, in float16 and otherwise.
_EPSILONS = 1e-3, 1e-12


@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Collections = GraphKeys.UPDATE_OPS,
    is_training: TensorLike = True,
    reuse: bool | None = None,
    variables_collections: Collections = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    batch_weights: object = None,
    fused: object = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Scope = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Normalizes channels by the moments of the batch, or by their moving averages; `tf.layers.batch_normalization`.

    Args:
        inputs: of shape (rows, ..., channels), or with channels second.
        decay: how much of an average stays.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        epsilon: added to the variance.
        activation_fn: applied to the result.
        param_initializers: by the names of the variables.
        param_regularizers: of `beta` and `gamma`, by name.
        updates_collections: for the operations that move averages; None has them move at once.
        is_training: whether to use the moments of the batch.
        reuse: see `tf.variable_scope`.
        variables_collections: names of collections for the variables, or a dict with them by name.
        outputs_collections: names of collections for the result, or one name.
        trainable: whether optimizers change `beta` and `gamma`.
        batch_weights: must be None.
        fused: accepted, and not used: XLA fuses.
        data_format: `"NHWC"` or `"NCHW"`.
        zero_debias_moving_mean: must be False.
        scope: name, or scope; without one it is `BatchNorm`, numbered.
        renorm: see `tf.layers.batch_normalization`.
        renorm_clipping: likewise.
        renorm_decay: likewise.
        adjustment: likewise.

    Raises:
        NotImplementedError: rows have weights, or the average is to be corrected.

    Source: `tf.contrib.layers.batch_norm`.
    """
    if batch_weights is not None or zero_debias_moving_mean:
        raise NotImplementedError(
            "batch_norm(batch_weights=..., zero_debias_moving_mean=True) is not supported. Leave these out."
        )
    first, start, penalty = (
        data_format == "NCHW",
        param_initializers or {},
        param_regularizers or {},
    )
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as found:
        layer: Any = BatchNormalization(
            axis=1 if first else -1,
            momentum=decay,
            epsilon=epsilon,
            center=center,
            scale=scale,
            beta_initializer=start.get("beta", Zeros()),
            gamma_initializer=start.get("gamma", Ones()),
            moving_mean_initializer=start.get("moving_mean", Zeros()),
            moving_variance_initializer=start.get("moving_variance", Ones()),
            beta_regularizer=penalty.get("beta"),
            gamma_regularizer=penalty.get("gamma"),
            trainable=trainable,
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_decay,
            adjustment=adjustment,
            name=found.name.rpartition("/")[2],
            _scope=found,
            _reuse=reuse,
        )
        outputs = layer.apply(convert_to_tensor(inputs), training=is_training)
        _place_updates(layer.updates, updates_collections)
        for variable in (*layer.trainable_weights, *layer.non_trainable_weights):
            name = name_of(variable).rpartition("/")[2]
            for collection in collections_of(name, variables_collections):
                if all(one is not variable for one in get_collection_ref(collection)):
                    add_to_collections(collection, variable)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return collected(outputs, outputs_collections)


def _place_updates(updates: Sequence[Any], collections: Collections) -> None:
    """Takes updates of averages out of `UPDATE_OPS`, to where they belong; None has them happen."""
    if collections == GraphKeys.UPDATE_OPS or not updates:
        return
    kept = get_collection_ref(GraphKeys.UPDATE_OPS)
    kept[:] = [one for one in kept if all(one is not other for other in updates)]
    if collections is not None:
        for one in updates:
            add_to_collections(collections, one)
        return
    graph = current_graph()
    if graph is not None:
        graph.run(updates)


@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[..., Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Collections = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Scope = None,
) -> Any:
    """Normalizes each row by its own moments.

    Args:
        inputs: of shape (rows, ...).
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        activation_fn: applied to the result.
        reuse: see `tf.variable_scope`.
        variables_collections: names of collections for the variables, or a dict with them by name.
        outputs_collections: names of collections for the result, or one name.
        trainable: whether optimizers change the variables.
        begin_norm_axis: moments are over this axis and all after it.
        begin_params_axis: the variables have the sizes of this axis and all after it.
        scope: name, or scope; without one it is `LayerNorm`, numbered.

    Raises:
        ValueError: an axis is out of range.

    Source: `tf.contrib.layers.layer_norm`.
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.ndim
    norm, first = (axis % rank for axis in (begin_norm_axis, begin_params_axis))
    if max(begin_norm_axis, begin_params_axis) >= rank:
        raise ValueError(
            f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be < rank(inputs) ({rank})"
        )
    shape = inputs.shape[first:]
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse):
        dtype, options = inputs.dtype, (None, trainable, variables_collections)
        beta = layer_variable("beta", shape, dtype, Zeros(), *options) if center else None
        gamma = layer_variable("gamma", shape, dtype, Ones(), *options) if scale else None
        axes = tuple(range(norm, rank))
        mean, variance = nn.moments(inputs, axes, keepdims=True)
        epsilon = _EPSILONS[0 if dtype == jnp.float16 else 1]
        outputs = nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return collected(outputs, outputs_collections)
