"""Whole programs with estimators, as they are run from a shell: three rounds of training and evaluation.

`python -m tests.benchmarks.programs.rounds PROGRAM FRONT_END`
"""

import csv
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.peer import front_end

ROUNDS, ROWS, TEST_ROWS = 3, 4000, 1000
_TEXTS = {
    "education": [
        "Bachelors",
        "HS-grad",
        "11th",
        "Masters",
        "9th",
        "Some-college",
        "Assoc-acdm",
        "Assoc-voc",
        "7th-8th",
        "Doctorate",
        "Prof-school",
        "10th",
    ],
    "marital_status": ["Married", "Divorced", "Never-married", "Separated", "Widowed"],
    "relationship": [
        "Husband",
        "Not-in-family",
        "Wife",
        "Own-child",
        "Unmarried",
        "Other-relative",
    ],
    "workclass": [
        "Self-emp",
        "Private",
        "State-gov",
        "Federal-gov",
        "Local-gov",
        "?",
        "Without-pay",
        "Never-worked",
    ],
    "occupation": [
        "Tech",
        "Craft",
        "Service",
        "Sales",
        "Managerial",
        "Specialty",
        "Cleaners",
        "Machines",
        "Clerical",
        "Farming",
        "Transport",
    ],
    "native_country": ["United-States", "Mexico", "Canada", "India", "Cuba"],
}
_NUMBERS = {"age": (17, 90), "education_num": (1, 17), "capital_gain": (0, 10)}
_NUMBERS |= {"capital_loss": (0, 10), "hours_per_week": (1, 99)}
_Input = Callable[[], Any]


def wide_and_deep(tf: Any, folder: str) -> tuple[Any, _Input, _Input]:
    """The official models' estimator of incomes, with the columns of its census."""
    wide, deep = _columns(tf)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        folder,
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[100, 75, 50, 25],
    )
    return estimator, *_census(tf, folder)


def network(tf: Any, folder: str) -> tuple[Any, _Input, _Input]:
    """The deep half of it."""
    _, deep = _columns(tf)
    return tf.estimator.DNNClassifier([100, 75, 50, 25], deep, folder), *_census(tf, folder)


def images(tf: Any, folder: str) -> tuple[Any, _Input, _Input]:
    """The convolutional network of TensorFlow 1's tutorial, on noise as large as MNIST's digits."""
    v1 = tf.compat.v1
    generator = np.random.default_rng(0)
    pixels = generator.random((ROWS, 28, 28, 1), np.float32)
    digits = generator.integers(0, 10, ROWS).astype(np.int32)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features
        for filters in (32, 64):
            net = v1.layers.conv2d(net, filters, 5, padding="same", activation=tf.nn.relu)
            net = v1.layers.max_pooling2d(net, 2, 2)
        net = v1.layers.dense(v1.layers.flatten(net), 128, activation=tf.nn.relu)
        net = v1.layers.dropout(net, 0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
        logits = v1.layers.dense(net, 10)
        loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            accuracy = v1.metrics.accuracy(labels, tf.argmax(logits, 1))
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"same": accuracy})
        train_op = v1.train.AdamOptimizer(1e-3).minimize(loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def rows(count: int) -> _Input:
        return lambda: tf.data.Dataset.from_tensor_slices((pixels[:count], digits[:count])).batch(
            100
        )

    return tf.estimator.Estimator(model_fn, folder), rows(ROWS), rows(TEST_ROWS)


def _columns(tf: Any) -> tuple[list[Any], list[Any]]:
    column = tf.feature_column
    numbers = {key: column.numeric_column(key) for key in _NUMBERS}
    ages = column.bucketized_column(numbers["age"], [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    known = [
        column.categorical_column_with_vocabulary_list(key, _TEXTS[key])
        for key in ("education", "marital_status", "relationship", "workclass")
    ]
    hashed = [
        column.categorical_column_with_hash_bucket(key, 1000)
        for key in ("occupation", "native_country")
    ]
    crossed = [
        column.crossed_column(keys, 1000)
        for keys in (
            ["education", "occupation"],
            [ages, "education", "occupation"],
            ["native_country", "occupation"],
        )
    ]
    deep = [*numbers.values(), *map(column.indicator_column, known)]
    return [*known, *hashed, ages, *crossed], [
        *deep,
        *(column.embedding_column(one, 8) for one in hashed),
    ]


def _census(tf: Any, folder: str) -> tuple[_Input, _Input]:
    """Makes files of rows, and what reads them."""
    keys = [*_TEXTS, *_NUMBERS, "income"]
    defaults = [*([""] for _ in _TEXTS), *([0] for _ in _NUMBERS), [""]]

    def parse(line: Any) -> tuple[dict[str, Any], Any]:
        features = dict(zip(keys, tf.io.decode_csv(line, defaults), strict=True))
        return features, tf.equal(features.pop("income"), ">50K")

    def rows(name: str, count: int, epochs: int) -> _Input:
        path = str(Path(folder, name))
        _write_rows(path, count)

        def input_fn() -> Any:
            lines = tf.data.TextLineDataset(path)
            return lines.map(parse, num_parallel_calls=5).repeat(epochs).batch(40)

        return input_fn

    return rows("train.csv", ROWS, 2), rows("test.csv", TEST_ROWS, 1)


def _write_rows(path: str, count: int) -> None:
    generator = np.random.default_rng(count)
    with open(path, "w", newline="") as stream:
        rows = csv.writer(stream)
        for _ in range(count):
            texts = [generator.choice(words) for words in _TEXTS.values()]
            numbers = [int(generator.integers(*limits)) for limits in _NUMBERS.values()]
            rows.writerow([*texts, *numbers, ">50K" if sum(numbers) > 120 else "<=50K"])


def main(program: str, name: str) -> None:
    """Runs a program."""
    tf = front_end(name, 1)
    make = {"wide_and_deep": wide_and_deep, "network": network, "images": images}[program]
    with tempfile.TemporaryDirectory() as folder:
        estimator, train, evaluate = make(tf, folder)
        for _ in range(ROUNDS):
            estimator.train(train)
            estimator.evaluate(evaluate)


if __name__ == "__main__":
    main(*sys.argv[1:])
