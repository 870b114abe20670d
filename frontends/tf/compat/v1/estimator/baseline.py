"""`tf.compat.v1.estimator.BaselineClassifier` and its like: models that look at labels alone, whose losses are sums over a batch."""

from collections.abc import Sequence
from typing import Any

from frontends.tf.estimator.canned.heads import Head, RegressionHead
from frontends.tf.estimator.canned.heads.head import of_v1
from frontends.tf.estimator.canned.model_functions import baseline_model_fn
from frontends.tf.estimator.canned.parts import bias_only, class_head
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.run_config import RunConfig
from spmd.typing import StrPath


class BaselineClassifier(Estimator):
    """Classifies all rows alike: it learns how frequent classes are.

    Source: `tf.compat.v1.estimator.BaselineClassifier`.
    """

    def __init__(
        self,
        model_dir: StrPath | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = "weighted_sum",
    ) -> None:
        """Describes the estimator.

        Args:
            model_dir: see `Estimator`.
            n_classes: how many classes there are.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            label_vocabulary: the texts that labels are; None if they are numbers.
            optimizer: a name ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"), an optimizer of `tf.compat.v1.train` or of
                `tf.keras.optimizers`, or a function that returns one.
            config: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(class_head(n_classes, weight_column, label_vocabulary, loss_reduction))
        part = bias_only(weight_column, optimizer)
        super().__init__(baseline_model_fn(head, part, is_v1=True), model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the same number for all rows: it learns the mean.

    Source: `tf.compat.v1.estimator.BaselineRegressor`.
    """

    def __init__(
        self,
        model_dir: StrPath | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = "weighted_sum",
    ) -> None:
        """Describes the estimator.

        Args:
            model_dir: see `Estimator`.
            label_dimension: how many numbers a row of the labels has.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            optimizer: see `BaselineClassifier`.
            config: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(RegressionHead(label_dimension, weight_column, loss_reduction))
        part = bias_only(weight_column, optimizer)
        super().__init__(baseline_model_fn(head, part, is_v1=True), model_dir, config)


class BaselineEstimator(Estimator):
    """Learns a bias alone for a task of one's own.

    Source: `tf.compat.v1.estimator.BaselineEstimator`.
    """

    def __init__(
        self,
        head: Head,
        model_dir: StrPath | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ) -> None:
        """Describes the estimator.

        Args:
            head: the task, such as a `tf.estimator.MultiLabelHead`.
            model_dir: see `Estimator`.
            optimizer: see `BaselineClassifier`.
            config: see `Estimator`.

        Raises:
            ValueError: see `Estimator`.
        """
        head = of_v1(head)
        part = bias_only(None, optimizer)
        super().__init__(baseline_model_fn(head, part, is_v1=True), model_dir, config)
