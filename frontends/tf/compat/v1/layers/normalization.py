"""Batch normalization, with statistics of each replica's own rows."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from frontends.tf._typing import Axis, TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization
from frontends.tf.compat.v1.initializers import Ones
from frontends.tf.compat.v1.layers.affine import ZEROS
from frontends.tf.compat.v1.layers.base import Layer
from frontends.tf.compat.v1.layers.core import known_truth
from frontends.tf.compat.v1.layers.input_spec import InputSpec
from frontends.tf.compat.v1.layers.padding import beside, rows_of
from frontends.tf.compat.v1.variable_scopes import Reuse
from frontends.tf.dtypes import jax_dtype
from frontends.tf.graph import Operation, current_graph
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.name_scope import in_name_scope
from frontends.tf.variable import Variable

_ONES = Ones()


class BatchNormalization(Layer):
    """Normalizes by mean and variance: those of the batch in training, else moving averages.

    The averages change when the operations in `UPDATE_OPS` run: have the training operation depend on them. Outside of a
    model function they change at once. Every replica has averages of its own, over its own rows, and reading them
    between replicas gives their mean.

    What differs here: rows that fill up a partial batch do not count.

    Attributes:
        gamma: scale, or None; all four have the size of the axis, and are None before the first call.
        beta: offset, or None.
        moving_mean: average of the means.
        moving_variance: average of the variances.

    Source: `tf.compat.v1.layers.BatchNormalization`.
    """

    def __init__(
        self,
        axis: Axis = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = ZEROS,
        gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = ZEROS,
        moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: object = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: object = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            axis: of the channels, or several axes; statistics are over the others.
            momentum: how much of an average is kept at each update.
            epsilon: added to the variance.
            center: whether to add `beta`.
            scale: whether to multiply with `gamma`.
            beta_initializer: see `Layer.add_weight`.
            gamma_initializer: likewise.
            moving_mean_initializer: likewise.
            moving_variance_initializer: likewise.
            beta_regularizer: likewise.
            gamma_regularizer: likewise.
            beta_constraint: likewise.
            gamma_constraint: likewise.
            fused: as TensorFlow's fused operation, which inputs of 4 and 5 axes take unless this is False, the average is
                of the unbiased variance. Otherwise without effect: XLA fuses.
            trainable: whether optimizers train `beta` and `gamma`, and the averages move.
            name: see `Layer`.
            **kwargs: for `Layer`.

        Raises:
            ValueError: `renorm`, `virtual_batch_size` or `adjustment` is asked for.

        `renorm_clipping` and `renorm_momentum` are without effect, as they belong to `renorm`.
        """
        super().__init__(trainable, name, **kwargs)
        asked = {
            "renorm": renorm,
            "virtual_batch_size": virtual_batch_size is not None,
            "adjustment": adjustment is not None,
        }
        for argument in (one for one, given in asked.items() if given):
            raise ValueError(
                f"tf.layers.BatchNormalization({argument}=...) is not supported: only plain batch normalization is. Leave "
                f"{argument} out."
            )
        self.axis, self.momentum, self.epsilon, self.fused = axis, momentum, epsilon, fused
        self.center, self.scale = center, scale
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None
        self._gamma = gamma_initializer, gamma_regularizer, gamma_constraint
        self._beta = beta_initializer, beta_regularizer, beta_constraint
        self._moving = moving_mean_initializer, moving_variance_initializer
        self.input_spec = InputSpec(min_ndim=1, floating=True)

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
            ValueError: the input has no such axis.
        """
        rank = len(input_shape)
        axes = _channel_axes(self.axis, rank)
        sizes = {axis: input_shape[axis] for axis in axes}
        self.input_spec = InputSpec(ndim=rank, axes=sizes, floating=True)
        many = [sizes.get(axis, 1) for axis in range(rank)]
        shape = [input_shape[axes[0]]] if len(axes) == 1 else many
        # In float32 at least: averages of half precision would stand still.
        dtype = jnp.promote_types(jax_dtype(self.dtype), jnp.float32)
        for name, wanted, (initializer, regularizer, constraint) in (
            ("gamma", self.scale, self._gamma),
            ("beta", self.center, self._beta),
        ):
            if wanted:
                variable = self.add_weight(
                    name, shape, dtype, initializer, regularizer, constraint=constraint
                )
                setattr(self, name, variable)
        self.moving_mean, self.moving_variance = (
            self.add_weight(
                name,
                shape,
                dtype,
                initializer,
                synchronization=VariableSynchronization.ON_READ,
                trainable=False,
                aggregation=VariableAggregation.MEAN,
            )
            for name, initializer in zip(
                ("moving_mean", "moving_variance"), self._moving, strict=True
            )
        )

    def call(self, inputs: Any, training: TensorLike = False) -> Any:
        """Normalizes the input.

        Args:
            inputs: tensor.
            training: whether to normalize by the statistics of these rows, a Python value or a scalar tensor.

        Returns:
            A tensor of the shape and dtype of the input.
        """
        axes = _channel_axes(self.axis, inputs.ndim)
        shape = [size if axis in axes else 1 for axis, size in enumerate(inputs.shape)]

        def spread(variable: Variable) -> jax.Array:
            return jnp.reshape(convert_to_tensor(variable), shape)

        x = inputs.astype(jnp.promote_types(inputs.dtype, jnp.float32))
        mean, variance = spread(self.moving_mean), spread(self.moving_variance)
        chosen = known_truth(training)
        if chosen is not False:
            seen = _moments(x, axes)
            self._update(seen, chosen, self._is_fused(inputs.ndim, axes))
            mean = seen.mean if chosen is True else jnp.where(chosen, seen.mean, mean)
            variance = (
                seen.variance if chosen is True else jnp.where(chosen, seen.variance, variance)
            )
        # The mean first: what is left of large numbers keeps its digits.
        outputs = (x - mean) * lax.rsqrt(variance + self.epsilon)
        if self.gamma is not None:
            outputs = outputs * spread(self.gamma)
        if self.beta is not None:
            outputs = outputs + spread(self.beta)
        return outputs.astype(inputs.dtype)

    def _is_fused(self, rank: int, axes: tuple[int, ...]) -> bool:
        """Tells whether TensorFlow would take its fused operation."""
        return self.fused is not False and rank in (4, 5) and axes in ((1,), (rank - 1,))

    def _update(self, seen: "_Moments", training: Any, unbiased: bool) -> None:
        """Has the averages move towards what was seen, if this is training and there were rows.

        As in TensorFlow, those of a layer that is not trainable stay.
        """
        if not self.trainable:
            return
        variance = seen.variance
        if unbiased:
            variance = variance * (seen.count / jnp.maximum(seen.count - 1, 1))
        changes = (seen.count > 0) & training
        for average, value, name in (
            (self.moving_mean, seen.mean, "AssignMovingAvg"),
            (self.moving_variance, variance, "AssignMovingAvg_1"),
        ):
            self.add_update(_moved(average, value, 1 - self.momentum, changes, name))


def _moved(
    average: Variable, value: jax.Array, share: float, changes: jax.Array, name: str
) -> Operation | None:
    """Moves an average a part of the way to a value; in a model function, returns the operation that does."""

    def move() -> None:
        way = average.value() - lax.stop_gradient(value).reshape(average.shape)
        average.assign_sub(jnp.where(changes, way * share, 0).astype(average.dtype))

    graph = current_graph()
    if graph is not None:
        return graph.operation(in_name_scope(name), move)
    move()
    return None


class _Moments(NamedTuple):
    """Statistics of a batch.

    Attributes:
        mean: with axes of size 1 but for the channels.
        variance: likewise.
        count: of how many numbers each is.
    """

    mean: jax.Array
    variance: jax.Array
    count: jax.Array | int


def _moments(x: jax.Array, channels: tuple[int, ...]) -> _Moments:
    """Computes mean and variance of the rows that are data."""
    axes = tuple(axis for axis in range(x.ndim) if axis not in channels)
    rows = rows_of(x) if 0 in axes else None
    count = math.prod(x.shape[axis] for axis in axes)
    if rows is None:
        mean = x.mean(axes, keepdims=True)
        return _Moments(mean, jnp.square(x - mean).mean(axes, keepdims=True), count)
    valid, within = beside(rows, x), axes[1:]
    count = rows.sum() * (count // x.shape[0])

    def mean_of(values: jax.Array) -> jax.Array:
        # Along the other axes first, so that the selection is among few sums.
        sums = jnp.where(valid, values.sum(within, keepdims=True), 0)
        return sums.sum(0, keepdims=True) / jnp.maximum(count, 1)

    mean = mean_of(x)
    return _Moments(mean, mean_of(jnp.square(x - mean)), count)


def _channel_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Counts axes from the front.

    Raises:
        ValueError: there is no such axis, or one is named twice.
    """
    given = [axis] if isinstance(axis, int) else list(axis)
    axes = tuple(one + rank if one < 0 else one for one in given)
    if not axes or len(set(axes)) < len(axes) or not all(0 <= one < rank for one in axes):
        raise ValueError(
            f"Invalid value for `axis` argument of tf.layers.BatchNormalization: {axis}, for an input of {rank} axes. Write "
            "axis=-1, or axis=1 where channels come first."
        )
    return axes


def batch_normalization(
    inputs: TensorLike,
    axis: Axis = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: TensorLike = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
    renorm: bool = False,
    renorm_clipping: object = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: object = None,
) -> Any:
    """Makes a layer and calls it; see `BatchNormalization`.

    Have the training operation depend on the updates of the averages:
    `with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS))`.

    Args:
        training: see `BatchNormalization.call`.
        reuse: True if the variables are to exist, `tf.AUTO_REUSE` if they may.

    Raises:
        ValueError: `renorm`, `virtual_batch_size` or `adjustment` is asked for.

    Source: `tf.compat.v1.layers.batch_normalization`.
    """
    layer = BatchNormalization(
        axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        renorm,
        renorm_clipping,
        renorm_momentum,
        fused,
        trainable,
        virtual_batch_size,
        adjustment,
        name,
        _scope=name,
        _reuse=reuse,
    )
    return layer(inputs, training=training)
