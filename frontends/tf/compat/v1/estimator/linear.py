"""`tf.compat.v1.estimator.LinearClassifier` and its like: linear models, whose losses are sums over a batch."""

from collections.abc import Iterable, Sequence
from typing import Any

from frontends.tf.estimator.canned.heads import Head, RegressionHead
from frontends.tf.estimator.canned.heads.head import of_v1
from frontends.tf.estimator.canned.model_functions import model_fn_v1
from frontends.tf.estimator.canned.parts import class_head, linear_only
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.run_config import RunConfig
from spmd.typing import StrPath


class LinearClassifier(Estimator):
    """Classifies rows by weights of feature columns, which are added up.

    Source: `tf.compat.v1.estimator.LinearClassifier`.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: object = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        sparse_combiner: str = "sum",
    ) -> None:
        """Describes the estimator.

        Args:
            feature_columns: columns of any kind.
            model_dir: see `Estimator`.
            n_classes: how many classes there are.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            label_vocabulary: the texts that labels are; None if they are numbers.
            optimizer: a name ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"), an optimizer of `tf.compat.v1.train` or of
                `tf.keras.optimizers`, or a function that returns one.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.
            sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(class_head(n_classes, weight_column, label_vocabulary, loss_reduction))
        part = linear_only(feature_columns, sparse_combiner, optimizer)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )


class LinearRegressor(Estimator):
    """Predicts numbers by weights of feature columns, which are added up.

    Source: `tf.compat.v1.estimator.LinearRegressor`.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: object = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        sparse_combiner: str = "sum",
    ) -> None:
        """Describes the estimator.

        Args:
            feature_columns: columns of any kind.
            model_dir: see `Estimator`.
            label_dimension: how many numbers a row of the labels has.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            optimizer: see `LinearClassifier`.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.
            sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(RegressionHead(label_dimension, weight_column, loss_reduction))
        part = linear_only(feature_columns, sparse_combiner, optimizer)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )


class LinearEstimator(Estimator):
    """Adds up weights of feature columns for a task of one's own.

    Source: `tf.compat.v1.estimator.LinearEstimator`.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        partitioner: object = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        """Describes the estimator.

        Args:
            head: the task, such as a `tf.estimator.MultiLabelHead`.
            feature_columns: columns of any kind.
            model_dir: see `Estimator`.
            optimizer: see `LinearClassifier`.
            config: see `Estimator`.
            sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".
            warm_start_from: see `Estimator`.

        Raises:
            ValueError: see `Estimator`.
        """
        head = of_v1(head)
        part = linear_only(feature_columns, sparse_combiner, optimizer)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )
