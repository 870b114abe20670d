"""Parsed examples: what the recorded cases (tests/golden, records) leave out."""

import random

import numpy as np
import pytest

from frontends import tf
from frontends.tf.io.parsing import plan_of
from tests.frontends.tf.io.test_wire import example, mutated

SPEC = {
    "x": tf.io.FixedLenFeature([2], tf.float32),
    "n": tf.io.FixedLenFeature([], tf.int64),
    "s": tf.io.FixedLenFeature([], tf.string),
}


def test_values_have_the_methods_of_tensors():
    parsed = tf.io.parse_single_example(example(x=[1.0, 2.0], n=[5], s=[b"a\0"]), SPEC)
    assert parsed["x"].numpy().tolist() == [1.0, 2.0]
    parsed["x"].set_shape([2])
    assert (parsed["n"].numpy(), parsed["s"].numpy()) == (5, b"a\0")
    assert parsed["n"].dtype == tf.int64


def test_values_may_be_written_to():
    parsed = tf.io.parse_single_example(example(x=[1.0, 2.0], n=[5], s=[b""]), SPEC)
    parsed["x"][0] = 3.0
    assert parsed["x"].tolist() == [3.0, 2.0]


def test_a_plan_is_made_once():
    def spec():
        return {"x": tf.io.FixedLenFeature([2], tf.float32, [0.0, 1.0])}

    assert plan_of(spec()) is plan_of(spec())
    assert plan_of(spec()) is not plan_of({"x": tf.io.FixedLenFeature([2], tf.float32)})
    array = {"x": tf.io.FixedLenFeature([2], tf.float32, np.zeros(2))}
    assert plan_of(array) is not plan_of(array)  # an array may change


def test_texts_that_end_in_zeros_are_batched_whole():
    records = [example(s=[b"a\0\0"]), example(s=[b"bc\0"])]
    spec = {"s": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.Dataset.from_generator(lambda: iter(records))
    one = dataset.map(lambda record: tf.io.parse_single_example(record, spec)).batch(2)
    many = dataset.batch(2).map(lambda batch: tf.io.parse_example(batch, spec))
    for made in (one, many):
        assert next(iter(made))["s"].tolist() == [b"a\0\0", b"bc\0"]


def test_columns_say_what_to_parse():
    columns = [
        tf.feature_column.numeric_column("age", default_value=0.0),
        tf.feature_column.categorical_column_with_hash_bucket("name", 10),
    ]
    spec = tf.feature_column.make_parse_example_spec(columns)
    parsed = tf.io.parse_example([example(name=[b"a", b"b"]), example(age=[3.0])], spec)
    assert parsed["age"].tolist() == [[0.0], [3.0]]
    assert tf.sparse.to_dense(parsed["name"]).tolist() == [[b"a", b"b"], [b"", b""]]


def test_traced_texts_are_refused():
    with pytest.raises(ValueError, match="must be text"):
        tf.io.parse_single_example(tf.constant(1.0), SPEC)


def check_mutated(count, seed):
    """Values of the right types and shapes, or a ValueError."""
    rng = random.Random(seed)
    original = example(x=[0.5, 2.0], n=[300], s=[b"abc"], v=[1, 2, 3], q=[1.0, 2.0])
    spec = SPEC | {
        "v": tf.io.VarLenFeature(tf.int64),
        "q": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    }
    refused = 0
    for _ in range(count):
        data = mutated(original, rng)
        try:
            one = tf.io.parse_single_example(data, spec)
            two = tf.io.parse_example([original, data], spec)
        except ValueError:
            refused += 1
            continue
        assert one["x"].shape == (2,)
        np.testing.assert_array_equal(two["x"][1], one["x"])
        assert (two["n"][1], two["s"][1]) == (one["n"], one["s"])
        assert len(one["v"].values) == len(two["v"].values) - 3
    assert 0 < refused < count


def test_mutated_examples():
    check_mutated(300, seed=5)


@pytest.mark.slow
def test_many_mutated_examples():
    check_mutated(10_000, seed=6)
