"""`tf.keras.backend`'s functions of connectionist temporal classification, over those of `tf.nn`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.ops import ctc
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.sparse.sparse_tensor import SparseTensor

_EPSILON = 1e-7


def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> jax.Array:
    """Computes the loss of each row.

    Args:
        y_true: labels, shape (rows, most labels).
        y_pred: probabilities of softmax, shape (rows, frames, classes); the last class is the blank.
        input_length: how many frames count, shape (rows, 1).
        label_length: how many labels count, shape (rows, 1).

    Returns:
        Shape (rows, 1).

    Source: `tf.keras.backend.ctc_batch_cost`.
    """
    frames, labels = (jnp.ravel(convert_to_tensor(one)) for one in (input_length, label_length))
    logits = jnp.log(convert_to_tensor(y_pred) + _EPSILON)
    loss = ctc.ctc_loss(y_true, logits, labels, frames, logits_time_major=False, blank_index=-1)
    return loss[:, None]


def ctc_decode(
    y_pred: TensorLike,
    input_length: TensorLike,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[jax.Array], jax.Array]:
    """Finds labels, on the host.

    Args:
        y_pred: probabilities of softmax, shape (rows, frames, classes); the last class is the blank.
        input_length: how many frames count, shape (rows,).
        greedy: whether to take the best class of each frame, instead of searching.
        beam_width: of `tf.nn.ctc_beam_search_decoder`.
        top_paths: likewise.

    Returns:
        A list of labels, with -1 behind them, for each labelling; and what the decoder says of its probability.

    Source: `tf.keras.backend.ctc_decode`.
    """
    logits = jnp.swapaxes(jnp.log(convert_to_tensor(y_pred) + _EPSILON), 0, 1)
    lengths = np.asarray(input_length)
    if greedy:
        found, score = ctc.ctc_greedy_decoder(logits, lengths)
    else:
        found, score = ctc.ctc_beam_search_decoder(logits, lengths, beam_width, top_paths)
    rows, frames = logits.shape[1], logits.shape[0]
    return [_padded(one, rows, frames, merged=not greedy) for one in found], score


def _padded(labels: SparseTensor, rows: int, frames: int, *, merged: bool) -> jax.Array:
    made = np.full((rows, frames), -1, np.int64)
    places, values = np.asarray(labels.indices), np.asarray(labels.values)
    for row in range(rows):
        found = values[places[:, 0] == row]
        if merged:  # as the search of TensorFlow 1 does, which Keras calls
            found = found[np.r_[True, found[1:] != found[:-1]][: len(found)]]
        made[row, : len(found)] = found
    return convert_to_tensor(made)


def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> SparseTensor:
    """Makes a sparse tensor of the labels that count.

    Source: `tf.keras.backend.ctc_label_dense_to_sparse`.
    """
    numbers, lengths = np.asarray(labels), np.ravel(np.asarray(label_lengths))
    kept = np.arange(numbers.shape[1])[None] < lengths[:, None]
    return SparseTensor(np.argwhere(kept), numbers[kept], numbers.shape)


TABLE: dict[str, Any] = {
    "ctc_batch_cost": ctc_batch_cost,
    "ctc_decode": ctc_decode,
    "ctc_label_dense_to_sparse": ctc_label_dense_to_sparse,
}
