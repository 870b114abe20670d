"""Connectionist temporal classification: `tf.nn.ctc_loss`, and what finds labels in its logits."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.ops.convert import convert_to_tensor, known
from frontends.tf.sparse.rows import sparse_of_rows
from frontends.tf.sparse.sparse_tensor import SparseTensor

_NEVER = -1e30  # a logarithm: infinity would give gradients that are no numbers


def ctc_loss(
    labels: HostLike,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Computes the negative logarithm of the probability that logits spell labels, one number an example.

    Labels that do not fit into the frames give infinity; TensorFlow gives a number near 707.

    Args:
        labels: shape (rows, most labels), or a sparse tensor, which needs `blank_index`.
        logits: shape (frames, rows, classes), or rows first if not `logits_time_major`.
        label_length: how many labels of a row count; not used for a sparse tensor, which says it.
        logit_length: how many frames of a row count.
        logits_time_major: see `logits`.
        unique: accepted, and not used: it is for speed.
        blank_index: the class of frames without a label; negative numbers count from the end. None means 0.

    Raises:
        ValueError: a sparse tensor comes without `blank_index`.

    Source: `tf.nn.ctc_loss`.
    """
    scores = convert_to_tensor(logits)
    scores = scores if logits_time_major else jnp.swapaxes(scores, 0, 1)
    classes = scores.shape[-1]
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when labels is a SparseTensor: blank_index=-1 is what "
                "TensorFlow 1 took."
            )
        labels, label_length = _dense(labels)
    blank = (0 if blank_index is None else blank_index) % classes
    targets = convert_to_tensor(labels).astype(jnp.int32)
    label_counts, frame_counts = (
        convert_to_tensor(one).astype(jnp.int32) for one in (label_length, logit_length)
    )
    logs = jnp.swapaxes(jax.nn.log_softmax(scores), 0, 1)
    return _losses(targets, logs, label_counts, frame_counts, blank)


def _dense(labels: SparseTensor) -> tuple[np.ndarray, np.ndarray]:
    places, values = np.asarray(labels.indices), np.asarray(labels.values)
    rows, columns = (int(one) for one in np.asarray(labels.dense_shape))
    made = np.zeros((rows, columns), np.int32)
    made[places[:, 0], places[:, 1]] = values
    return made, np.bincount(places[:, 0], minlength=rows)


@functools.partial(jax.jit, static_argnums=4)
def _losses(labels: Any, logs: Any, counts: Any, frames: Any, blank: int) -> jax.Array:
    return jax.vmap(_loss, (0, 0, 0, 0, None))(labels, logs, counts, frames, blank)


def _loss(labels: Any, logs: Any, count: Any, frames: Any, blank: int) -> jax.Array:
    """Of one row: adds up the probabilities of all ways through the labels with blanks between them."""
    most = labels.shape[0]
    path = jnp.full(2 * most + 1, blank, jnp.int32).at[1::2].set(labels)
    # A blank between two labels can be left out if they differ.
    before = jnp.concatenate([jnp.full(2, blank, jnp.int32), path[:-2]])
    skips = (path != blank) & (path != before)
    places = jnp.arange(path.size)
    start = jnp.where((places == 0) | ((places == 1) & (count > 0)), logs[0, path], _NEVER)

    def step(state: jax.Array, inputs: Any) -> tuple[jax.Array, None]:
        number, frame = inputs
        one = jnp.concatenate([jnp.full(1, _NEVER), state[:-1]])
        two = jnp.where(skips, jnp.concatenate([jnp.full(2, _NEVER), state[:-2]]), _NEVER)
        reached = jax.nn.logsumexp(jnp.stack([state, one, two]), axis=0) + frame[path]
        return jnp.where(number < frames, jnp.maximum(reached, _NEVER), state), None

    numbers = jnp.arange(1, logs.shape[0])
    last, _ = jax.lax.scan(step, start, (numbers, logs[1:]))
    end = 2 * count
    ends = jnp.where((places == end) | (places == end - 1), last, _NEVER)
    # Without frames there is nothing to read, but for no labels.
    total = jnp.where(frames > 0, jax.nn.logsumexp(ends), jnp.where(count > 0, _NEVER, 0.0))
    return jnp.where(total <= _NEVER / 2, jnp.inf, -total)


def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], jax.Array]:
    """Takes the best class of each frame, on the host.

    Args:
        inputs: logits, shape (frames, rows, classes).
        sequence_length: how many frames of a row count.
        merge_repeated: whether equal classes of frames in a row are one label.
        blank_index: the class of frames without a label; None means the last one.

    Returns:
        A list of one sparse tensor of labels; and for each row the negative sum of the best logits, shape (rows, 1).

    Source: `tf.nn.ctc_greedy_decoder`.
    """
    scores, lengths = np.asarray(inputs), np.asarray(known(sequence_length))
    blank = (scores.shape[-1] - 1 if blank_index is None else blank_index) % scores.shape[-1]
    rows, sums = [], []
    for row, length in enumerate(lengths.tolist()):
        best = scores[:length, row].argmax(-1)
        sums.append(-scores[:length, row].max(-1, initial=-np.inf).sum())
        first = np.ones(length, bool)
        if merge_repeated:
            first[1:] = best[1:] != best[:-1]
        rows.append(best[first & (best != blank)].tolist())
    return [_sparse(rows)], jnp.asarray(sums, scores.dtype)[:, None]


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], jax.Array]:
    """Finds the most probable labels, among so many beginnings at a time, on the host; the last class is the blank.

    Args:
        inputs: logits, shape (frames, rows, classes).
        sequence_length: how many frames of a row count.
        beam_width: how many beginnings are kept.
        top_paths: how many labellings to return.

    Returns:
        For each of them a sparse tensor of labels; and their logarithms of probabilities, shape (rows, top_paths).

    Raises:
        ValueError: there are fewer labellings than `top_paths`.

    Source: `tf.nn.ctc_beam_search_decoder`.
    """
    logs = np.asarray(jax.nn.log_softmax(convert_to_tensor(inputs)), np.float64)
    found = [
        _search(logs[:length, row], beam_width)[:top_paths]
        for row, length in enumerate(np.asarray(known(sequence_length)).tolist())
    ]
    for one in found:
        if len(one) < top_paths:
            raise ValueError(
                f"ctc_beam_search_decoder: requested {top_paths} paths, but there are only {len(one)}. Take fewer: "
                f"top_paths={len(one)}."
            )
    labels = [_sparse([list(row[path][0]) for row in found]) for path in range(top_paths)]
    return labels, jnp.asarray([[one[1] for one in row] for row in found], jnp.float32)


def _search(logs: np.ndarray, width: int) -> list[tuple[tuple[int, ...], float]]:
    """Of one row: the labellings and their logarithms of probabilities, the best ones first."""
    blank = logs.shape[-1] - 1
    # By beginning: the logarithms of probabilities that it ends with a blank, and with a label.
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -np.inf)}
    for frame in logs:
        grown: dict[tuple[int, ...], list[float]] = {}

        def add(prefix: tuple[int, ...], place: int, value: float, grown: Any = grown) -> None:
            ends = grown.setdefault(prefix, [-np.inf, -np.inf])
            ends[place] = np.logaddexp(ends[place], value)

        for prefix, (with_blank, with_label) in beams.items():
            both = float(np.logaddexp(with_blank, with_label))
            add(prefix, 0, both + frame[blank])
            if prefix:
                add(prefix, 1, with_label + frame[prefix[-1]])
            for label in range(blank):
                repeated = bool(prefix) and prefix[-1] == label
                add((*prefix, label), 1, (with_blank if repeated else both) + frame[label])
        best = sorted(grown.items(), key=lambda one: -np.logaddexp(one[1][0], one[1][1]))
        beams = {prefix: (ends[0], ends[1]) for prefix, ends in best[:width]}
    return [(prefix, float(np.logaddexp(ends[0], ends[1]))) for prefix, ends in beams.items()]


def _sparse(rows: list[list[int]]) -> SparseTensor:
    values = np.array([one for found in rows for one in found], np.int64)
    return sparse_of_rows(values, [len(found) for found in rows])


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """Merges equal labels that follow each other, on the host.

    Returns:
        The labels, with zeros behind them, and their counts.

    Source: `tf.nn.collapse_repeated`.
    """
    rows = []
    for row, length in zip(np.asarray(labels), np.asarray(seq_length).tolist(), strict=True):
        part = row[:length]
        first = np.ones(length, bool)
        first[1:] = part[1:] != part[:-1]
        rows.append(part[first])
    size = max(map(len, rows), default=0)
    made = np.stack([np.pad(row, (0, size - len(row))) for row in rows])
    return convert_to_tensor(made), jnp.asarray([len(row) for row in rows], jnp.int32)
