"""What the constructors of canned estimators share: heads, models and learning rates of their arguments."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from frontends.tf.estimator.canned.heads import BinaryClassHead, MultiClassHead
from frontends.tf.estimator.canned.heads.head import TaskHead
from frontends.tf.estimator.canned.model_functions import Part
from frontends.tf.estimator.canned.models import ActivationFn, Bias, LinearModel, Network

# TensorFlow's learning rates of optimizers that are named.
_LINEAR_RATE, _BASELINE_RATE = 0.2, 0.3
_COMBINED_LINEAR_RATE, _COMBINED_NETWORK_RATE = 0.005, 0.001


def class_head(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> TaskHead:
    """Makes the head of a classifier; see its constructor."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def linear_only(columns: Iterable[Any] | None, sparse_combiner: str, optimizer: Any) -> Part:
    """Makes the part of a linear estimator.

    Args:
        columns: of features.
        sparse_combiner: see `LinearModel`.
        optimizer: None takes Ftrl, with a learning rate that falls with the number of columns.
    """
    found, rate = tuple(columns or ()), _LINEAR_RATE
    if optimizer is None:
        optimizer, rate = "Ftrl", _capped(rate, found)
    return Part(LinearModel(found, sparse_combiner), optimizer, rate)


def bias_only(weight_column: Any, optimizer: Any) -> Part:
    """Makes the part of a baseline."""
    return Part(Bias(weight_column), optimizer, _BASELINE_RATE)


def linear_part(columns: Iterable[Any] | None, sparse_combiner: str, optimizer: Any) -> Part | None:
    """Makes the linear part of a combined estimator; None without columns."""
    found = tuple(columns or ())
    if not found:
        return None
    rate = _capped(_COMBINED_LINEAR_RATE, found)
    return Part(LinearModel(found, sparse_combiner), optimizer, rate)


def network_part(
    hidden_units: Sequence[int] | None,
    columns: Iterable[Any] | None,
    activation_fn: ActivationFn,
    dropout: float | None,
    batch_norm: bool,
    optimizer: Any,
) -> Part | None:
    """Makes the network of a combined estimator; None without columns.

    Raises:
        ValueError: there are columns, but no hidden units.
    """
    found = tuple(columns or ())
    if not found:
        return None
    if not hidden_units:
        raise ValueError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified: dnn_hidden_units=[64, 32]."
        )
    network = Network(tuple(hidden_units), found, activation_fn, dropout, batch_norm)
    return Part(network, optimizer, _COMBINED_NETWORK_RATE)


def check_parts(*parts: Part | None) -> None:
    """Checks that a combined estimator has a model.

    Raises:
        ValueError: it has none.
    """
    if all(part is None for part in parts):
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")


def _capped(rate: float, columns: Sequence[Any]) -> float:
    return min(rate, 1 / math.sqrt(max(1, len(columns))))
