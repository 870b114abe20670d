"""Losses over many classes, of which a few are sampled: `tf.nn.nce_loss`, `tf.nn.sampled_softmax_loss`.

A *candidate* is a sampled class. Its *expected count* says how often it would be sampled, and corrects its logit.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.ops import nn, random
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.indexing import gather

# Bisections that find how often to draw.
_BISECTIONS = 60
_LOWEST = float(jnp.finfo(jnp.float32).min)


class Candidates(NamedTuple):
    """Sampled classes.

    Attributes:
        sampled_candidates: their numbers, shape (sampled,).
        true_expected_count: of the true classes, in their shape.
        sampled_expected_count: of the sampled ones, shape (sampled,).
    """

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Samples classes that are numbered by how frequent they are, those with small numbers more often.

    What differs here: the counts of unique candidates are those of the mean number of draws, not of those that were needed.

    Args:
        true_classes: shape (rows, num_true).
        num_true: how many true classes a row has.
        num_sampled: how many to sample.
        unique: whether each is sampled once at most.
        range_max: number of classes.
        seed: of this operation.

    Source: `tf.random.log_uniform_candidate_sampler`.
    """
    classes = jnp.arange(range_max, dtype=jnp.float32)
    probabilities = (jnp.log(classes + 2) - jnp.log(classes + 1)) / jnp.log(range_max + 1.0)
    return _sampled(probabilities, true_classes, num_sampled, unique, seed)


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Samples classes, all equally often; see `log_uniform_candidate_sampler`.

    Source: `tf.random.uniform_candidate_sampler`.
    """
    probabilities = jnp.full(range_max, 1 / range_max, jnp.float32)
    return _sampled(probabilities, true_classes, num_sampled, unique, seed)


def _sampled(
    probabilities: jax.Array, true: TensorLike, count: int, unique: bool, seed: int | None
) -> Candidates:
    if unique:
        # The largest of the logarithms with Gumbel's noise are drawn one after another, without what was drawn.
        noise = random.uniform(probabilities.shape, 1e-30, 1.0, seed=seed)
        _, chosen = jax.lax.top_k(jnp.log(probabilities) - jnp.log(-jnp.log(noise)), count)
        draws = _draws(probabilities, count)
        expected = -jnp.expm1(draws * jnp.log1p(-probabilities))
    else:
        logits = jnp.log(probabilities)[None]
        chosen = jnp.asarray(random.categorical(logits, count, "int32", seed))[0]
        expected = probabilities * count
    return Candidates(chosen, gather(expected, true), gather(expected, chosen))


@functools.partial(jax.jit, static_argnums=1)
def _draws(probabilities: jax.Array, count: int) -> jax.Array:
    """Finds how many draws give so many different classes, in the mean."""

    def halve(_: Any, bounds: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bounds
        middle = (low + high) / 2
        found = jnp.sum(-jnp.expm1(middle * jnp.log1p(-probabilities)))
        return jnp.where(found < count, middle, low), jnp.where(found < count, high, middle)

    most = jnp.float32(count) * 100 * len(probabilities)
    return jax.lax.fori_loop(0, _BISECTIONS, halve, (jnp.float32(count), most))[0]


def nce_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Computes the loss of noise-contrastive estimation, one number an example.

    Args:
        weights: shape (classes, size).
        biases: shape (classes,).
        labels: true classes, shape (rows, num_true).
        inputs: shape (rows, size).
        num_sampled: how many classes to sample.
        num_classes: how many there are.
        num_true: true classes of a row.
        sampled_values: what a candidate sampler returned; None samples log-uniformly.
        remove_accidental_hits: whether to leave out sampled classes that are true.

    Source: `tf.nn.nce_loss`.
    """
    logits, targets = _logits(
        *(weights, biases, labels, inputs, num_sampled, num_classes, num_true),
        *(sampled_values, remove_accidental_hits, None),
    )
    return jnp.sum(nn.sigmoid_cross_entropy_with_logits(targets, logits), axis=1)


def sampled_softmax_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Computes the cross entropy over true and sampled classes, one number an example; see `nce_loss`.

    Args:
        weights: shape (classes, size).
        biases: shape (classes,).
        labels: true classes, shape (rows, num_true).
        inputs: shape (rows, size).
        num_sampled: how many classes to sample.
        num_classes: how many there are.
        num_true: true classes of a row.
        sampled_values: what a candidate sampler returned; None samples log-uniformly.
        remove_accidental_hits: whether to leave out sampled classes that are true.
        seed: of the sampler.

    Source: `tf.nn.sampled_softmax_loss`.
    """
    logits, targets = _logits(
        *(weights, biases, labels, inputs, num_sampled, num_classes, num_true),
        *(sampled_values, remove_accidental_hits, seed),
    )
    return nn.softmax_cross_entropy_with_logits(targets, logits)


def _logits(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: int | None,
) -> tuple[jax.Array, jax.Array]:
    """Computes logits of the true and the sampled classes, and their targets."""
    if isinstance(weights, list | tuple):
        weights = jnp.concatenate([convert_to_tensor(one) for one in weights])
    x = convert_to_tensor(inputs)
    true = convert_to_tensor(labels).reshape(-1, num_true)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_count, sampled_count = map(
        jax.lax.stop_gradient, map(convert_to_tensor, sampled_values)
    )
    of_true = jnp.einsum("rs,rts->rt", x, gather(weights, true)) + gather(biases, true)
    of_sampled = x @ gather(weights, sampled).T + gather(biases, sampled)
    if remove_accidental_hits:
        hits = jnp.any(true[:, :, None] == sampled[None, None].astype(true.dtype), axis=1)
        of_sampled = jnp.where(hits, of_sampled + _LOWEST, of_sampled)
    of_true = of_true - jnp.log(true_count)
    of_sampled = of_sampled - jnp.log(sampled_count)
    targets = [jnp.full_like(of_true, 1 / num_true), jnp.zeros_like(of_sampled)]
    return jnp.concatenate([of_true, of_sampled], 1), jnp.concatenate(targets, 1)
