"""Learning rates that follow the global step: tensors in a model function, functions that return them elsewhere."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.graph import current_graph
from frontends.tf.ops.random import normal

# A tensor, or a function that returns one.
Rate = jax.Array | Callable[[], jax.Array]


def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Multiplies a rate by `decay_rate` every `decay_steps` steps.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        decay_steps: how many steps one factor takes.
        decay_rate: the factor.
        staircase: whether the rate changes after so many steps only, not in each of them.

    Source: `tf.compat.v1.train.exponential_decay`.
    """
    return _following(
        lambda rate, step: rate * jnp.float32(decay_rate) ** _periods(step, decay_steps, staircase),
        *(learning_rate, global_step),
    )


def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Multiplies a rate by `exp(-decay_rate)` every `decay_steps` steps; see `exponential_decay`.

    Source: `tf.compat.v1.train.natural_exp_decay`.
    """
    factor = jnp.exp(-jnp.asarray(decay_rate, jnp.float32))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase)


def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """Divides a rate by `1 + decay_rate * step / decay_steps`; see `exponential_decay`.

    Source: `tf.compat.v1.train.inverse_time_decay`.
    """
    return _following(
        lambda rate, step: (
            rate / (1 + jnp.float32(decay_rate) * _periods(step, decay_steps, staircase))
        ),
        *(learning_rate, global_step),
    )


def piecewise_constant(
    x: TensorLike,
    boundaries: Sequence[TensorLike],
    values: Sequence[TensorLike],
    name: str | None = None,
) -> Rate:
    """Returns one of several values, by the interval of the step.

    Args:
        x: a variable or a number.
        boundaries: steps until which, included, the values hold.
        values: one more than there are boundaries.

    Raises:
        ValueError: there are more or fewer values; or boundaries are fractions, but steps are whole.

    Source: `tf.compat.v1.train.piecewise_constant`.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values: there are "
            f"{len(boundaries)} boundaries and {len(values)} values."
        )
    edges, levels = jnp.asarray(list(boundaries)), jnp.asarray(list(values))
    whole = jnp.issubdtype(_number(x).dtype, jnp.integer)
    if whole and not jnp.issubdtype(edges.dtype, jnp.integer):
        raise ValueError(
            f"Boundaries ({edges.dtype}) must have the same dtype as x ({_number(x).dtype})."
        )

    def now() -> jax.Array:
        return levels[jnp.sum(_number(x) > edges)]

    return now() if current_graph() is not None else now


def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Rate:
    """Lets a rate fall to another one within some steps.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        decay_steps: how many steps it falls.
        end_learning_rate: the rate at the end.
        power: of the part that is left; 1 falls evenly.
        cycle: whether to begin anew after the end, each time with more steps.

    Source: `tf.compat.v1.train.polynomial_decay`.
    """

    def of(rate: jax.Array, step: jax.Array) -> jax.Array:
        steps, end = jnp.float32(decay_steps), jnp.float32(end_learning_rate)
        if cycle:
            steps = steps * jnp.where(step == 0, 1, jnp.ceil(step / steps))
        else:
            step = jnp.minimum(step, steps)
        return (rate - end) * (1 - step / steps) ** jnp.float32(power) + end

    return _following(of, learning_rate, global_step)


def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: TensorLike = 0.0,
    name: str | None = None,
) -> Rate:
    """Lets a rate fall along half a cosine.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        decay_steps: how many steps it falls.
        alpha: which part of it stays.

    Source: `tf.compat.v1.train.cosine_decay`.
    """

    def of(rate: jax.Array, step: jax.Array) -> jax.Array:
        steps = jnp.float32(decay_steps)
        cosine = 0.5 * (1 + jnp.cos(math.pi * jnp.minimum(step, steps) / steps))
        return rate * ((1 - alpha) * cosine + alpha)

    return _following(of, learning_rate, global_step)


def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: TensorLike,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Rate:
    """Lets a rate fall along half a cosine, again and again.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        first_decay_steps: how many steps it falls the first time.
        t_mul: by what the number of steps is multiplied from time to time.
        m_mul: likewise the rate at the start of each time.
        alpha: which part of the rate stays.

    Source: `tf.compat.v1.train.cosine_decay_restarts`.
    """

    def of(rate: jax.Array, step: jax.Array) -> jax.Array:
        done, factor = step / jnp.float32(first_decay_steps), jnp.float32(t_mul)
        if t_mul == 1.0:
            times = jnp.floor(done)
            done = done - times
        else:
            times = jnp.floor(jnp.log(1 - done * (1 - factor)) / jnp.log(factor))
            before = (1 - factor**times) / (1 - factor)
            done = (done - before) / factor**times
        cosine = 0.5 * jnp.float32(m_mul) ** times * (1 + jnp.cos(math.pi * done))
        return rate * ((1 - alpha) * cosine + alpha)

    return _following(of, learning_rate, global_step)


def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Rate:
    """Lets a rate fall evenly, times a cosine.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        decay_steps: how many steps it falls.
        num_periods: of the cosine.
        alpha: added to the part that is left.
        beta: added to the product.

    Source: `tf.compat.v1.train.linear_cosine_decay`.
    """
    return _following(
        functools.partial(_linear_cosine, decay_steps, num_periods, alpha, beta, lambda step: 0.0),
        *(learning_rate, global_step),
    )


def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Rate:
    """Adds noise to the part that is left; see `linear_cosine_decay`.

    Args:
        learning_rate: the rate at first.
        global_step: a variable or a number.
        decay_steps: how many steps it falls.
        initial_variance: of the noise.
        variance_decay: power of the step by which the variance is divided.
        num_periods: of the cosine.
        alpha: added to the part that is left.
        beta: added to the product.

    Source: `tf.compat.v1.train.noisy_linear_cosine_decay`.
    """

    def noise(step: jax.Array) -> jax.Array:
        variance = jnp.float32(initial_variance) / (1 + step) ** jnp.float32(variance_decay)
        return normal(()) * jnp.sqrt(variance)

    return _following(
        functools.partial(_linear_cosine, decay_steps, num_periods, alpha, beta, noise),
        *(learning_rate, global_step),
    )


def _linear_cosine(
    decay_steps: TensorLike,
    num_periods: TensorLike,
    alpha: TensorLike,
    beta: TensorLike,
    noise: Callable[[jax.Array], Any],
    rate: jax.Array,
    step: jax.Array,
) -> jax.Array:
    steps = jnp.float32(decay_steps)
    step = jnp.minimum(step, steps)
    left = (steps - step) / steps + noise(step)
    cosine = 0.5 * (1 + jnp.cos(math.pi * 2 * num_periods * (step / steps)))
    return rate * ((alpha + left) * cosine + beta)


def _following(
    of: Callable[[jax.Array, jax.Array], jax.Array],
    learning_rate: TensorLike,
    global_step: TensorLike,
) -> Rate:
    """Computes a rate of the step: now in a model function, and elsewhere each time it is asked for."""

    def now() -> jax.Array:
        return of(jnp.asarray(learning_rate, jnp.float32), _number(global_step).astype(jnp.float32))

    return now() if current_graph() is not None else now


def _periods(step: jax.Array, decay_steps: TensorLike, staircase: bool) -> jax.Array:
    periods = step / jnp.float32(decay_steps)
    return jnp.floor(periods) if staircase else periods


def _number(value: TensorLike) -> jax.Array:
    return jnp.asarray(value)
