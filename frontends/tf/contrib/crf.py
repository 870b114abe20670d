"""`tf.contrib.crf`: conditional random fields over the tags of a linear chain.

A sequence's score is the sum of its unary potentials, `inputs[row, step, tag]`, and of its transitions, `params[from, to]`, over
the steps below its length. Its likelihood is the exponential of that, divided by those of all sequences of tags together.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.variable_scopes import get_variable
from frontends.tf.ops.convert import convert_to_tensor


def crf_unary_score(
    tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: TensorLike
) -> jax.Array:
    """Adds up the unary potentials of sequences of tags.

    Args:
        tag_indices: `[rows, steps]`.
        sequence_lengths: `[rows]`.
        inputs: `[rows, steps, tags]`.

    Returns:
        `[rows]`.

    Source: `tf.contrib.crf.crf_unary_score`.
    """
    tags, potentials = _tags(tag_indices), convert_to_tensor(inputs)
    each = jnp.take_along_axis(potentials, tags[..., None], axis=2)[..., 0]
    return jnp.sum(jnp.where(_within(sequence_lengths, tags.shape[1]), each, 0), axis=1)


def crf_binary_score(
    tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> jax.Array:
    """Adds up the transitions of sequences of tags; see `crf_unary_score`.

    Args:
        tag_indices: `[rows, steps]`.
        sequence_lengths: `[rows]`.
        transition_params: `[tags, tags]`.

    Returns:
        `[rows]`.

    Source: `tf.contrib.crf.crf_binary_score`.
    """
    tags, params = _tags(tag_indices), convert_to_tensor(transition_params)
    each = params[tags[:, :-1], tags[:, 1:]]
    return jnp.sum(jnp.where(_within(sequence_lengths, tags.shape[1])[:, 1:], each, 0), axis=1)


def crf_sequence_score(
    inputs: TensorLike,
    tag_indices: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike,
) -> jax.Array:
    """Computes the unnormalized score of sequences of tags: 0 without steps.

    Args:
        inputs: `[rows, steps, tags]`.
        tag_indices: `[rows, steps]`.
        sequence_lengths: `[rows]`.
        transition_params: `[tags, tags]`.

    Returns:
        `[rows]`.

    Source: `tf.contrib.crf.crf_sequence_score`.
    """
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_log_norm(
    inputs: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> jax.Array:
    """Computes the logarithm of what makes probabilities of scores; 0 without steps. See `crf_sequence_score`.

    Args:
        inputs: `[rows, steps, tags]`.
        sequence_lengths: `[rows]`.
        transition_params: `[tags, tags]`.

    Returns:
        `[rows]`.

    Source: `tf.contrib.crf.crf_log_norm`.
    """
    potentials, params = convert_to_tensor(inputs), convert_to_tensor(transition_params)
    within = _within(sequence_lengths, potentials.shape[1])

    def step(alphas: jax.Array, given: Any) -> tuple[jax.Array, None]:
        unary, counts = given
        new = unary + jax.nn.logsumexp(alphas[:, :, None] + params, axis=1)
        return jnp.where(counts[:, None], new, alphas), None

    over_time = jnp.swapaxes(potentials, 0, 1)
    alphas, _ = jax.lax.scan(step, over_time[0], (over_time[1:], within.T[1:]))
    return jnp.where(within[:, 0], jax.nn.logsumexp(alphas, axis=1), 0)


def crf_log_likelihood(
    inputs: TensorLike,
    tag_indices: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: Any = None,
) -> tuple[jax.Array, Any]:
    """Computes the logarithm of the likelihood of sequences of tags.

    Args:
        inputs: unary potentials, `[rows, steps, tags]`.
        tag_indices: `[rows, steps]`.
        sequence_lengths: `[rows]`.
        transition_params: `[tags, tags]`; None makes a variable, `transitions`.

    Returns:
        `[rows]`, and the transitions.

    Source: `tf.contrib.crf.crf_log_likelihood`.
    """
    count = convert_to_tensor(inputs).shape[2]
    if transition_params is None:
        transition_params = get_variable("transitions", [count, count])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(
    potentials: TensorLike, transition_params: TensorLike, sequence_length: TensorLike
) -> tuple[jax.Array, jax.Array]:
    """Finds the sequences of tags of the highest score, by Viterbi's algorithm, in the program.

    Args:
        potentials: `[rows, steps, tags]`.
        transition_params: `[tags, tags]`.
        sequence_length: `[rows]`.

    Returns:
        Tags, int32 `[rows, steps]`, 0 after a sequence's end; and scores, `[rows]`.

    Source: `tf.contrib.crf.crf_decode`.
    """
    scores, params = convert_to_tensor(potentials), convert_to_tensor(transition_params)
    # As in TensorFlow, a sequence without steps has the first tag.
    within = _within(jnp.maximum(convert_to_tensor(sequence_length), 1), scores.shape[1]).T
    over_time = jnp.swapaxes(scores, 0, 1)

    def forward(best: jax.Array, given: Any) -> tuple[jax.Array, jax.Array]:
        unary, counts = given
        each = best[:, :, None] + params
        new = jnp.where(counts[:, None], unary + jnp.max(each, axis=1), best)
        # Behind the end, a tag comes from itself.
        own = jnp.broadcast_to(jnp.arange(params.shape[0]), new.shape)
        return new, jnp.where(counts[:, None], jnp.argmax(each, axis=1), own)

    best, sources = jax.lax.scan(forward, over_time[0], (over_time[1:], within[1:]))
    last = jnp.argmax(best, axis=1)

    def backward(tag: jax.Array, source: jax.Array) -> tuple[jax.Array, jax.Array]:
        before = jnp.take_along_axis(source, tag[:, None], axis=1)[:, 0]
        return before, before

    _, earlier = jax.lax.scan(backward, last, sources, reverse=True)
    tags = jnp.concatenate([earlier, last[None]])
    return jnp.where(within, tags, 0).T.astype(jnp.int32), jnp.max(best, axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """Finds the sequence of tags of the highest score, in NumPy, outside of programs.

    Args:
        score: unary potentials of one sequence, `[steps, tags]`.
        transition_params: `[tags, tags]`.

    Returns:
        The tags, and the score.

    Source: `tf.contrib.crf.viterbi_decode`.
    """
    potentials, params = np.asarray(score), np.asarray(transition_params)
    best, sources = potentials[0], []
    for unary in potentials[1:]:
        each = best[:, None] + params
        sources.append(each.argmax(axis=0))
        best = unary + each.max(axis=0)
    tags = [int(best.argmax())]
    for source in reversed(sources):
        tags.append(int(source[tags[-1]]))
    return tags[::-1], best.max()


def _tags(tag_indices: TensorLike) -> jax.Array:
    return convert_to_tensor(tag_indices).astype(jnp.int32)


def _within(lengths: TensorLike, steps: int) -> jax.Array:
    """Tells which steps are below the lengths of the sequences, `[rows, steps]`."""
    return jnp.arange(steps) < convert_to_tensor(lengths)[:, None]


__getattr__, __dir__ = attributes("tf.contrib.crf", defined_in(__name__))
