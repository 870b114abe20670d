"""`tf.estimator.DNNLinearCombinedClassifier` and its like: networks and linear models together."""

from collections.abc import Iterable, Sequence
from typing import Any

import jax

from frontends.tf.estimator.canned.heads import Head, RegressionHead
from frontends.tf.estimator.canned.model_functions import combined_model_fn
from frontends.tf.estimator.canned.models import ActivationFn
from frontends.tf.estimator.canned.parts import check_parts, class_head, linear_part, network_part
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.run_config import RunConfig
from spmd.typing import StrPath


class DNNLinearCombinedClassifier(Estimator):
    """Classifies rows by a network and a linear model, whose logits are added: "wide and deep".

    Source: `tf.estimator.DNNLinearCombinedClassifier`.
    """

    def __init__(
        self,
        model_dir: StrPath | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = jax.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Describes the estimator.

        Args:
            model_dir: see `Estimator`.
            linear_feature_columns: columns of any kind, for the linear model; None for no such model.
            linear_optimizer: a name, an optimizer or a function that returns one: see `LinearClassifier`.
            dnn_feature_columns: dense columns, for the network; None for no such model.
            dnn_optimizer: likewise.
            dnn_hidden_units: sizes of the hidden layers.
            dnn_activation_fn: of the hidden layers: a function, its name, or None.
            dnn_dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            n_classes: how many classes there are.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            label_vocabulary: the texts that labels are; None if they are numbers.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.losses.Reduction`.
            batch_norm: whether to normalize what hidden layers give.
            linear_sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".

        Raises:
            ValueError: there are no columns, or an argument is not what the head needs.
        """
        head = class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        network = network_part(
            dnn_hidden_units,
            dnn_feature_columns,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            dnn_optimizer,
        )
        linear = linear_part(linear_feature_columns, linear_sparse_combiner, linear_optimizer)
        check_parts(network, linear)
        super().__init__(
            combined_model_fn(head, network, linear, is_v1=False),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(Estimator):
    """Predicts numbers by a network and a linear model, which are added: "wide and deep".

    Source: `tf.estimator.DNNLinearCombinedRegressor`.
    """

    def __init__(
        self,
        model_dir: StrPath | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = jax.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Describes the estimator.

        Args:
            model_dir: see `Estimator`.
            linear_feature_columns: columns of any kind, for the linear model; None for no such model.
            linear_optimizer: a name, an optimizer or a function that returns one: see `LinearClassifier`.
            dnn_feature_columns: dense columns, for the network; None for no such model.
            dnn_optimizer: likewise.
            dnn_hidden_units: sizes of the hidden layers.
            dnn_activation_fn: of the hidden layers: a function, its name, or None.
            dnn_dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            label_dimension: how many numbers a row of the labels has.
            weight_column: key of a feature, or a numeric column: weights of examples; None weighs all alike.
            config: see `Estimator`.
            warm_start_from: see `Estimator`.
            loss_reduction: one of `tf.losses.Reduction`.
            batch_norm: whether to normalize what hidden layers give.
            linear_sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".

        Raises:
            ValueError: there are no columns, or an argument is not what the head needs.
        """
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        network = network_part(
            dnn_hidden_units,
            dnn_feature_columns,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            dnn_optimizer,
        )
        linear = linear_part(linear_feature_columns, linear_sparse_combiner, linear_optimizer)
        check_parts(network, linear)
        super().__init__(
            combined_model_fn(head, network, linear, is_v1=False),
            model_dir,
            config,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedEstimator(Estimator):
    """Adds up a network and a linear model for a task of one's own.

    Source: `tf.estimator.DNNLinearCombinedEstimator`.
    """

    def __init__(
        self,
        head: Head,
        model_dir: StrPath | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = jax.nn.relu,
        dnn_dropout: float | None = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        """Describes the estimator.

        Args:
            head: the task, such as a `tf.estimator.MultiLabelHead`.
            model_dir: see `Estimator`.
            linear_feature_columns: columns of any kind, for the linear model; None for no such model.
            linear_optimizer: a name, an optimizer or a function that returns one: see `LinearClassifier`.
            dnn_feature_columns: dense columns, for the network; None for no such model.
            dnn_optimizer: likewise.
            dnn_hidden_units: sizes of the hidden layers.
            dnn_activation_fn: of the hidden layers: a function, its name, or None.
            dnn_dropout: which fraction of what a hidden layer gives is dropped in training; None for none.
            config: see `Estimator`.
            batch_norm: whether to normalize what hidden layers give.
            linear_sparse_combiner: how the weights of a row that is in several buckets of a column are combined: "sum", "mean" or "sqrtn".

        Raises:
            ValueError: there are no columns, or there are no hidden units for the columns of the network.
        """
        network = network_part(
            dnn_hidden_units,
            dnn_feature_columns,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            dnn_optimizer,
        )
        linear = linear_part(linear_feature_columns, linear_sparse_combiner, linear_optimizer)
        check_parts(network, linear)
        super().__init__(combined_model_fn(head, network, linear, is_v1=False), model_dir, config)
