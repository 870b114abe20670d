"""The heads of `tf.contrib.estimator`: losses are means over a batch, and the rest is as in TensorFlow 1."""

from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf.compat.v1.losses import Reduction
from frontends.tf.estimator.canned import heads as of_2
from frontends.tf.estimator.canned.heads.head import of_v1

_MEAN = Reduction.SUM_OVER_BATCH_SIZE
_LossFn = Callable[..., Any] | None


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: _LossFn = None,
    name: str | None = None,
) -> of_2.Head:
    """Makes the head of a classifier of two classes; see `tf.estimator.BinaryClassHead`.

    Source: `tf.contrib.estimator.binary_classification_head`.
    """
    return of_v1(
        of_2.BinaryClassHead(
            weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
        )
    )


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: _LossFn = None,
    name: str | None = None,
) -> of_2.Head:
    """Makes the head of a classifier of more than two classes; see `tf.estimator.MultiClassHead`.

    Source: `tf.contrib.estimator.multi_class_head`.
    """
    return of_v1(
        of_2.MultiClassHead(
            n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
        )
    )


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: _LossFn = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> of_2.Head:
    """Makes the head of a classifier whose classes do not exclude each other; see `tf.estimator.MultiLabelHead`.

    Source: `tf.contrib.estimator.multi_label_head`.
    """
    return of_v1(
        of_2.MultiLabelHead(
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_reduction,
            loss_fn,
            classes_for_class_based_metrics,
            name,
        )
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: _LossFn = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> of_2.Head:
    """Makes the head of a regressor; see `tf.estimator.RegressionHead`.

    Source: `tf.contrib.estimator.regression_head`.
    """
    return of_v1(
        of_2.RegressionHead(
            label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
        )
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> of_2.Head:
    """Makes the head of a regressor of counts; see `tf.estimator.PoissonRegressionHead`.

    Source: `tf.contrib.estimator.poisson_regression_head`.
    """
    return of_v1(
        of_2.PoissonRegressionHead(
            label_dimension, weight_column, loss_reduction, compute_full_loss, name
        )
    )


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> of_2.Head:
    """Makes the head of a regressor of probabilities; see `tf.estimator.LogisticRegressionHead`.

    Source: `tf.contrib.estimator.logistic_regression_head`.
    """
    return of_v1(of_2.LogisticRegressionHead(weight_column, loss_reduction, name))


def multi_head(
    heads: Sequence[of_2.Head], head_weights: Sequence[float] | None = None
) -> of_2.Head:
    """Makes a head of several; see `tf.estimator.MultiHead`.

    Source: `tf.contrib.estimator.multi_head`.
    """
    return of_v1(of_2.MultiHead(heads, head_weights))
