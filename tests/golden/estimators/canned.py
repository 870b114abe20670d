"""Canned estimators of both generations, on each kind of feature column, from weights of a checkpoint."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.estimators.base import (
    config,
    folder,
    input_fn,
    recorded,
    run,
    start_from,
    wave,
)
from tests.golden.scenarios.base import Case, Setting

GROUP = "canned"
WORDS = ("red", "green", "blue", "grey")
COUNT = 32


def features() -> dict[str, Any]:
    """A column of each kind that features come in."""
    index = np.arange(COUNT)
    return {
        "age": wave([COUNT], 0.1, 30.0) + 35.0,
        "pair": wave([COUNT, 2], 0.7, 1.0),
        "color": np.array([WORDS[i * 7 % 4] if i % 5 else "violet" for i in index]),
        "city": np.array([f"city {i * 5 % 11}" for i in index]),
        "number": (index * 3 % 5).astype(np.int64),
        "weight": (index % 4 / 2.0 + 0.5).astype(np.float32),
    }


def labels(kinds: int) -> Any:
    """Classes; or numbers, for no kinds."""
    found = features()
    score = found["age"] / 30.0 + found["pair"][:, 0] - (found["color"] == "red")
    if kinds == 0:
        return score.astype(np.float32)
    return np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds)).astype(np.int64)


def columns(tf: Any) -> dict[str, Callable[[], Any]]:
    """A feature column of each kind."""
    fc = tf.feature_column
    age = lambda: fc.numeric_column("age")  # noqa: E731
    ages = lambda: fc.bucketized_column(age(), [20.0, 35.0, 50.0])  # noqa: E731
    color = lambda: fc.categorical_column_with_vocabulary_list("color", WORDS)  # noqa: E731
    return {
        "numeric": lambda: fc.numeric_column("pair", shape=(2,)),
        "normalized": lambda: fc.numeric_column("age", normalizer_fn=lambda x: (x - 35.0) / 30.0),
        "bucketized": ages,
        "vocabulary": color,
        "vocabulary_oov": lambda: fc.categorical_column_with_vocabulary_list(
            "color", WORDS, num_oov_buckets=2
        ),
        "hash_bucket": lambda: fc.categorical_column_with_hash_bucket("city", 6),
        "identity": lambda: fc.categorical_column_with_identity("number", 5),
        "crossed": lambda: fc.crossed_column([ages(), "color"], 10),
        "crossed_keys": lambda: fc.crossed_column(["city", "color"], 12),
    }


# What the weights of each column of a linear model are called, and how many rows they have.
_LINEAR = {
    "numeric": ("pair", 2),
    "normalized": ("age", 1),
    "bucketized": ("age_bucketized", 4),
    "vocabulary": ("color", 4),
    "vocabulary_oov": ("color", 6),
    "hash_bucket": ("city", 6),
    "identity": ("number", 5),
    "crossed": ("age_bucketized_X_color", 10),
    "crossed_keys": ("city_X_color", 12),
}
# Columns whose names differ, so that one model can have them all.
_ALL = ("numeric", "normalized", "bucketized", "vocabulary", "hash_bucket", "identity", "crossed")


def linear_weights(names: tuple[str, ...], units: int) -> dict[str, Any]:
    """Weights of a linear model on columns."""
    found = {"linear/linear_model/bias_weights": wave([units], 0.5, 0.1)}
    for phase, name in enumerate(names):
        key, size = _LINEAR[name]
        found[f"linear/linear_model/{key}/weights"] = wave([size, units], phase, 0.3)
    return found


def dense_columns(tf: Any) -> list[Any]:
    """Columns for a network: numeric, indicator, embedding, shared embeddings."""
    fc, made = tf.feature_column, columns(tf)
    return [
        made["numeric"](),
        made["normalized"](),
        made["bucketized"](),
        fc.indicator_column(made["vocabulary"]()),
        fc.indicator_column(made["crossed"]()),
        fc.embedding_column(made["hash_bucket"](), 2),
        fc.embedding_column(made["identity"](), 3, combiner="sum"),
    ]


def network_weights(inputs: int, hidden: tuple[int, ...], units: int) -> dict[str, Any]:
    """Weights of a network."""
    found = {}
    for index, size in enumerate((*hidden, units)):
        name = f"dnn/hiddenlayer_{index}" if index < len(hidden) else "dnn/logits"
        found[f"{name}/kernel"] = wave([inputs, size], index, 0.4)
        found[f"{name}/bias"] = wave([size], index + 0.5, 0.05)
        inputs = size
    return found


def embedding_weights() -> dict[str, Any]:
    """Weights of the embeddings of `dense_columns`."""
    prefix = "dnn/input_from_feature_columns/input_layer"
    return {
        f"{prefix}/city_embedding/embedding_weights": wave([6, 2], 2.0),
        f"{prefix}/number_embedding/embedding_weights": wave([5, 3], 3.0),
    }


INPUTS = 2 + 1 + 4 + 4 + 10 + 2 + 3  # of dense_columns


@dataclasses.dataclass(frozen=True)
class _Generation:
    """The estimators of TensorFlow 1, or those of TensorFlow 2 by the same names."""

    tf: Any
    old: bool

    @property
    def names(self) -> Any:
        """The module that has them."""
        return self.tf.compat.v1.estimator if self.old else self.tf.estimator

    def sgd(self, rate: float) -> Any:
        """An optimizer that estimators of this generation take."""
        if self.old:
            return self.tf.compat.v1.train.GradientDescentOptimizer(rate)
        return self.tf.keras.optimizers.legacy.SGD(rate)

    def runs(
        self,
        prefix: str,
        make: Callable[..., Any],
        weights: dict[str, Any],
        kinds: int,
        **options: Any,
    ) -> Iterator[Case]:
        """Trains an estimator from weights."""
        x, y = features(), labels(kinds)
        yield from run(
            lambda: make(
                model_dir=folder(),
                config=config(self.tf),
                warm_start_from=start_from(self.tf, weights),
                **options,
            ),
            input_fn(self.tf, x, y),
            input_fn(self.tf, x, y, batch=12, repeat=False),
            input_fn(self.tf, x, repeat=False),
            steps=5,
            prefix=prefix,
        )


def generation(s: Setting, old: bool) -> _Generation:
    return _Generation(s.tf, old)


def _kinds(kinds: int) -> dict[str, Any]:
    """The classes of a classifier; a regressor takes none."""
    return {"n_classes": kinds} if kinds else {}


def linear(s: Setting, old: bool) -> Iterator[Case]:
    g = generation(s, old)
    made = columns(s.tf)
    for name in _LINEAR:
        yield from g.runs(
            f"sgd/{name}/",
            g.names.LinearClassifier,
            linear_weights((name,), 1),
            2,
            feature_columns=[made[name]()],
            optimizer=g.sgd(0.05),
        )
    for name, kinds, options in (
        ("ftrl_default/binary", 2, {}),
        ("ftrl_default/three", 3, {}),
        ("ftrl_default/regressor", 0, {}),
        ("sgd/three", 3, {"optimizer": g.sgd(0.01)}),
        ("sgd/regressor", 0, {"optimizer": g.sgd(0.001)}),
        ("sgd/weighted", 2, {"optimizer": g.sgd(0.01), "weight_column": "weight"}),
        ("sgd/weighted_three", 3, {"optimizer": g.sgd(0.01), "weight_column": "weight"}),
        ("sgd/weighted_regressor", 0, {"optimizer": g.sgd(0.001), "weight_column": "weight"}),
        ("adam_by_name/binary", 2, {"optimizer": "Adam"}),
    ):
        yield from g.runs(
            f"{name}/",
            g.names.LinearClassifier if kinds else g.names.LinearRegressor,
            linear_weights(_ALL, kinds if kinds > 2 else 1),
            kinds,
            feature_columns=[made[one]() for one in _ALL],
            **_kinds(kinds),
            **options,
        )


def network(s: Setting, old: bool) -> Iterator[Case]:
    g = generation(s, old)
    hidden = (4, 3)
    for name, kinds, options in (
        ("adagrad_default/binary", 2, {}),
        ("adagrad_default/three", 3, {}),
        ("adagrad_default/regressor", 0, {}),
        ("sgd/binary", 2, {"optimizer": g.sgd(0.05)}),
        ("sgd/three", 3, {"optimizer": g.sgd(0.05), "activation_fn": s.tf.nn.tanh}),
        ("sgd/regressor", 0, {"optimizer": g.sgd(0.01)}),
        ("sgd/weighted", 2, {"optimizer": g.sgd(0.05), "weight_column": "weight"}),
        ("sgd/regressor_of_two", 0, {"optimizer": g.sgd(0.01), "label_dimension": 2}),
        ("adam_by_name/binary", 2, {"optimizer": "Adam"}),
    ):
        units = options.get("label_dimension", kinds if kinds > 2 else 1)
        y = {"dnn": network_weights(INPUTS, hidden, units), "embeddings": embedding_weights()}
        if units == 2:
            yield from _two_numbers(g, f"{name}/", hidden, y["dnn"] | y["embeddings"], options)
            continue
        yield from g.runs(
            f"{name}/",
            g.names.DNNClassifier if kinds else g.names.DNNRegressor,
            y["dnn"] | y["embeddings"],
            kinds,
            hidden_units=list(hidden),
            feature_columns=dense_columns(s.tf),
            **_kinds(kinds),
            **options,
        )


def _two_numbers(
    g: _Generation, prefix: str, hidden: tuple[int, ...], weights: dict[str, Any], options: Any
) -> Iterator[Case]:
    x = features()
    y = np.stack([labels(0), -labels(0)], axis=1)
    yield from run(
        lambda: g.names.DNNRegressor(
            list(hidden),
            dense_columns(g.tf),
            folder(),
            config=config(g.tf),
            warm_start_from=start_from(g.tf, weights),
            **options,
        ),
        input_fn(g.tf, x, y),
        input_fn(g.tf, x, y, batch=12, repeat=False),
        input_fn(g.tf, x, repeat=False),
        steps=5,
        prefix=prefix,
    )


def combined(s: Setting, old: bool) -> Iterator[Case]:
    g = generation(s, old)
    made, hidden = columns(s.tf), (4, 3)
    wide = ("bucketized", "vocabulary", "crossed")
    sgd = lambda: {"linear_optimizer": g.sgd(0.02), "dnn_optimizer": g.sgd(0.05)}  # noqa: E731
    for name, kinds, options in (
        ("default/binary", 2, {}),
        ("default/three", 3, {}),
        ("default/regressor", 0, {}),
        ("sgd/binary", 2, sgd()),
        ("sgd/three", 3, sgd()),
        ("sgd/weighted", 2, sgd() | {"weight_column": "weight"}),
    ):
        units = kinds if kinds > 2 else 1
        weights = network_weights(INPUTS, hidden, units) | embedding_weights()
        yield from g.runs(
            f"{name}/",
            g.names.DNNLinearCombinedClassifier if kinds else g.names.DNNLinearCombinedRegressor,
            weights | linear_weights(wide, units),
            kinds,
            linear_feature_columns=[made[one]() for one in wide],
            dnn_feature_columns=dense_columns(s.tf),
            dnn_hidden_units=list(hidden),
            **_kinds(kinds),
            **options,
        )


@recorded("canned.linear", GROUP)
def linear_2(s: Setting) -> Iterator[Case]:
    yield from linear(s, old=False)


@recorded("canned.linear_v1", GROUP)
def linear_1(s: Setting) -> Iterator[Case]:
    yield from linear(s, old=True)


@recorded("canned.dnn", GROUP)
def network_2(s: Setting) -> Iterator[Case]:
    yield from network(s, old=False)


@recorded("canned.dnn_v1", GROUP)
def network_1(s: Setting) -> Iterator[Case]:
    yield from network(s, old=True)


@recorded("canned.combined", GROUP)
def combined_2(s: Setting) -> Iterator[Case]:
    yield from combined(s, old=False)


@recorded("canned.combined_v1", GROUP)
def combined_1(s: Setting) -> Iterator[Case]:
    yield from combined(s, old=True)
