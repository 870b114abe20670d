"""Heads whose losses are sums over a batch: the functions that model functions import from TensorFlow's undocumented `canned.head`."""

from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf.compat.v1.losses import Reduction
from frontends.tf.estimator.canned.heads import (
    BinaryClassHead,
    Head,
    MultiClassHead,
    PoissonRegressionHead,
    RegressionHead,
)
from frontends.tf.estimator.canned.heads.head import of_v1

_LossFn = Callable[..., Any] | None


def binary_logistic_or_multi_class_head(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    loss_fn: _LossFn = None,
) -> Head:
    """Makes the head of a classifier, for two classes or more; see `tf.estimator.BinaryClassHead` and `MultiClassHead`.

    Source: `tensorflow_estimator.python.estimator.canned.head._binary_logistic_or_multi_class_head`.
    """
    if n_classes == 2:
        return binary_logistic_head_with_sigmoid_cross_entropy_loss(
            weight_column, None, label_vocabulary, loss_reduction, loss_fn
        )
    return multi_class_head_with_softmax_cross_entropy_loss(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn
    )


def binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: _LossFn = None,
    name: str | None = None,
) -> Head:
    """Makes the head of a classifier of two classes; see `tf.estimator.BinaryClassHead`.

    Source: `tensorflow_estimator.python.estimator.canned.head._binary_logistic_head_with_sigmoid_cross_entropy_loss`.
    """
    return of_v1(
        BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)
    )


def multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: _LossFn = None,
    name: str | None = None,
) -> Head:
    """Makes the head of a classifier of more than two classes; see `tf.estimator.MultiClassHead`.

    Source: `tensorflow_estimator.python.estimator.canned.head._multi_class_head_with_softmax_cross_entropy_loss`.
    """
    return of_v1(
        MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    loss_fn: _LossFn = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> Head:
    """Makes the head of a regressor; see `tf.estimator.RegressionHead`.

    Source: `tensorflow_estimator.python.estimator.canned.head._regression_head`.
    """
    return of_v1(
        RegressionHead(
            label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
        )
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Head:
    """Makes the head of a regressor of counts; see `tf.estimator.PoissonRegressionHead`.

    Source: `tensorflow_estimator.python.estimator.canned.head._poisson_regression_head`.
    """
    return of_v1(
        PoissonRegressionHead(
            label_dimension, weight_column, loss_reduction, compute_full_loss, name
        )
    )
