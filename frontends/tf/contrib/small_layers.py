"""Layers of `tf.contrib.layers` without weights, and tables of rows."""

from typing import Any

from frontends.tf import nn
from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.compat.v1 import layers
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.contrib.arg_scopes import add_arg_scope
from frontends.tf.contrib.layer_variables import (
    Collections,
    Initializer,
    Regularizer,
    Scope,
    collected,
    layer_variable,
)
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.creation import one_hot


@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: TensorLike = 0.5,
    noise_shape: ShapeLike = None,
    is_training: TensorLike = True,
    outputs_collections: Collections = None,
    scope: Scope = None,
    seed: int | None = None,
) -> Any:
    """Sets some elements to zero while training; `tf.layers.dropout`.

    Args:
        inputs: any shape.
        keep_prob: the part that stays.
        noise_shape: see `tf.layers.dropout`.
        is_training: whether to do so.
        outputs_collections: names of collections for the result, or one name.
        scope: accepted, and not used.
        seed: see `tf.layers.dropout`.

    Source: `tf.contrib.layers.dropout`.
    """
    outputs = layers.dropout(inputs, 1 - keep_prob, noise_shape, seed, training=is_training)
    return collected(outputs, outputs_collections)


@add_arg_scope
def softmax(logits: TensorLike, scope: Scope = None) -> Any:
    """Makes probabilities of logits, along the last axis.

    Args:
        logits: of two or more axes.
        scope: accepted, and not used.

    Raises:
        ValueError: there is one axis only.

    Source: `tf.contrib.layers.softmax`.
    """
    array = convert_to_tensor(logits)
    if array.ndim < 2:
        raise ValueError(
            f"rank of shape must be at least 2 not: {array.ndim}. Write tf.nn.softmax."
        )
    return nn.softmax(array)


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Collections = None,
    scope: Scope = None,
) -> Any:
    """Makes of each label a row with one large element.

    Args:
        labels: whole numbers.
        num_classes: length of a row.
        on_value: of the large element.
        off_value: of the others.
        outputs_collections: names of collections for the result, or one name.
        scope: accepted, and not used.

    Source: `tf.contrib.layers.one_hot_encoding`.
    """
    return collected(one_hot(labels, num_classes, on_value, off_value), outputs_collections)


def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Initializer = None,
    regularizer: Regularizer = None,
    trainable: bool = True,
    scope: Scope = None,
    reuse: bool | None = None,
) -> Any:
    """Looks up the rows of a table, the variable `embeddings`.

    Args:
        ids: numbers of rows, of any shape.
        vocab_size: how many rows the table has.
        embed_dim: size of a row.
        unique: accepted, and not used: each row is looked up where it is needed.
        initializer: see `tf.get_variable`.
        regularizer: likewise.
        trainable: likewise.
        scope: name, or scope; without one it is `EmbedSequence`, numbered.
        reuse: see `tf.variable_scope`; the table has the sizes that it has.

    Raises:
        ValueError: sizes are missing.

    Source: `tf.contrib.layers.embed_sequence`.
    """
    if not reuse and (vocab_size is None or embed_dim is None):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing.")
    shape = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        table = layer_variable("embeddings", shape, None, initializer, regularizer, trainable)
        return nn.embedding_lookup(table, convert_to_tensor(ids))
