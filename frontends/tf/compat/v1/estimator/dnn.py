"""`tf.compat.v1.estimator.DNNClassifier` and its like: networks, whose losses are sums over a batch."""

from collections.abc import Iterable, Sequence
from typing import Any

import jax

from frontends.tf.estimator.canned.heads import Head, RegressionHead
from frontends.tf.estimator.canned.heads.head import of_v1
from frontends.tf.estimator.canned.model_functions import Part, model_fn_v1
from frontends.tf.estimator.canned.models import ActivationFn, Network
from frontends.tf.estimator.canned.parts import class_head
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.run_config import RunConfig
from spmd.typing import StrPath


class DNNClassifier(Estimator):
    """Classifies rows by a network of dense feature columns.

    Source: `tf.compat.v1.estimator.DNNClassifier`.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: ActivationFn = jax.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: object = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
    ) -> None:
        """Describes the estimator.

        Args:
            hidden_units: sizes of the hidden layers.
            feature_columns: dense columns.
            model_dir: see `Estimator`.
            n_classes: how many classes there are.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            label_vocabulary: the texts that labels are; None if they are numbers.
            optimizer: a name ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"), an optimizer of `tf.compat.v1.train` or of
                `tf.keras.optimizers`, or a function that returns one.
            activation_fn: of the hidden layers: a function, its name, or None.
            dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.
            batch_norm: whether to normalize what hidden layers give.

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(class_head(n_classes, weight_column, label_vocabulary, loss_reduction))
        network = Network(
            hidden_units, tuple(feature_columns or ()), activation_fn, dropout, batch_norm
        )
        part = Part(network, optimizer, 0.05)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )


class DNNRegressor(Estimator):
    """Predicts numbers by a network of dense feature columns.

    Source: `tf.compat.v1.estimator.DNNRegressor`.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: ActivationFn = jax.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: object = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = "weighted_sum",
        batch_norm: bool = False,
    ) -> None:
        """Describes the estimator.

        Args:
            hidden_units: sizes of the hidden layers.
            feature_columns: dense columns.
            model_dir: see `Estimator`.
            label_dimension: how many numbers a row of the labels has.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            optimizer: see `DNNClassifier`.
            activation_fn: of the hidden layers: a function, its name, or None.
            dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.compat.v1.losses.Reduction`.
            batch_norm: whether to normalize what hidden layers give.

        Raises:
            ValueError: an argument is not what the head needs.
        """
        head = of_v1(RegressionHead(label_dimension, weight_column, loss_reduction))
        network = Network(
            hidden_units, tuple(feature_columns or ()), activation_fn, dropout, batch_norm
        )
        part = Part(network, optimizer, 0.05)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )


class DNNEstimator(Estimator):
    """Computes a network of dense feature columns for a task of one's own.

    Source: `tf.compat.v1.estimator.DNNEstimator`.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: StrPath | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: ActivationFn = jax.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: object = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        """Describes the estimator.

        Args:
            head: the task, such as a `tf.estimator.MultiLabelHead`.
            hidden_units: sizes of the hidden layers.
            feature_columns: dense columns.
            model_dir: see `Estimator`.
            optimizer: see `DNNClassifier`.
            activation_fn: of the hidden layers: a function, its name, or None.
            dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            batch_norm: whether to normalize what hidden layers give.

        Raises:
            ValueError: see `Estimator`.
        """
        head = of_v1(head)
        network = Network(
            hidden_units, tuple(feature_columns or ()), activation_fn, dropout, batch_norm
        )
        part = Part(network, optimizer, 0.05)
        super().__init__(
            model_fn_v1(head, part), model_dir, config, warm_start_from=warm_start_from
        )
