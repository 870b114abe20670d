"""Loops over datasets inside tf.function: they read like TensorFlow's, and nothing is compiled twice."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def distributed(strategy, total, size=4):
    x = np.arange(1.0, total + 1, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)).batch(size)
    return strategy.experimental_distribute_dataset(dataset)


def trace_counts(strategy):
    return [step.trace_count for step in strategy._steps]


class Trainer:
    """A linear model; its `step` is one replica's."""

    def __init__(self, strategy):
        self.strategy = strategy
        with strategy.scope():
            self.weight, self.bias = tf.Variable(0.5), tf.Variable(0.0)

    def step(self, batch):
        (x, y), variables = batch, (self.weight, self.bias)
        with tf.GradientTape() as tape:
            errors = (self.weight * x + self.bias - y) ** 2
            loss = tf.nn.compute_average_loss(errors, global_batch_size=4)
        replica: Any = tf.distribute.get_replica_context()
        gradients = replica.all_reduce("SUM", tape.gradient(loss, variables))
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    def train(self, batch):
        return self.strategy.reduce("SUM", self.strategy.run(self.step, args=(batch,)), axis=None)

    @property
    def weights(self):
        return [float(self.weight), float(self.bias)]


# What TensorFlow 2.21 gives on two logical CPUs: rows, mean loss, weight, bias; one model throughout.
TENSORFLOW = [
    (8, 271.46435546875, 2.84139990, 0.43184995),
    (7, 2.02486587, 3.00151587, 0.46895206),
    (5, 0.31435141, 3.03737330, 0.48140371),
    (3, 0.14845042, 3.05031514, 0.48806146),
    (0, np.nan, 3.05031514, 0.48806146),
]


def test_epochs_give_tensorflows_numbers_with_partial_batches_and_without_any():
    trainer = Trainer(mirrored())

    @tf.function
    def epoch(data):
        total, n = 0.0, 0
        for batch in data:
            total += trainer.train(batch)
            n += 1
        if n > 1:
            total *= 2.0
        return total / tf.cast(n, tf.float32)

    for rows, loss, weight, bias in TENSORFLOW:
        found = [epoch(distributed(trainer.strategy, rows)), *trainer.weights]
        np.testing.assert_allclose(found, [loss, weight, bias], rtol=1e-4)
    assert trace_counts(trainer.strategy) == [1]
    assert epoch.experimental_get_tracing_count() == 0


@pytest.mark.parametrize("k", [3, 3.0, jnp.int32(3)])
def test_an_iterator_and_a_count_as_arguments(k):
    trainer, by_hand = Trainer(mirrored()), Trainer(mirrored())

    @tf.function
    def steps(iterator, k):
        for _ in tf.range(k):
            trainer.strategy.run(trainer.step, args=(next(iterator),))

    for _ in range(2):
        steps(iter(distributed(trainer.strategy, 11)), k)
        for batch in distributed(by_hand.strategy, 11):
            by_hand.train(batch)
    assert trainer.weights == by_hand.weights
    assert trace_counts(trainer.strategy) == [1]


def test_nothing_is_taken_before_the_function_runs():
    strategy = mirrored()
    iterator = iter(tf.data.Dataset.range(3))
    distributed_iterator = iter(distributed(strategy, 8))

    @tf.function
    def both():
        return next(iterator), strategy.reduce("SUM", next(distributed_iterator)[0], axis=0)

    assert [float(value) for value in both()] == [0, 10]
    assert [float(value) for value in both()] == [1, 26]


def test_iterators_in_closures_and_a_count_that_is_traced():
    iterator = iter(tf.data.Dataset.range(10))

    def take():
        return next(iterator)

    @tf.function
    def total(k):
        found = 0
        for _ in tf.range(k):
            found += take()
        return found

    assert [int(total(k)) for k in (2, 3)] == [1, 9]


class Source:
    """An object that keeps its iterator."""

    def __init__(self):
        self.iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def take(self, k):
        return sum(int(next(self.iterator)) for _ in tf.range(k))


def test_methods_reach_the_iterator_of_their_object():
    first, second = Source(), Source()
    assert [int(first.take(3)), int(first.take(2)), int(second.take(1))] == [3, 7, 0]


def test_a_range_that_only_the_run_knows_is_pythons():
    @tf.function
    def total(k):
        return sum(range(k))

    with pytest.warns(UserWarning, match=r"total runs as Python.*tf\.range of a tensor"):
        assert int(total(jnp.int32(4))) == 6


def test_every_pass_of_a_plain_dataset_is_shuffled_anew():
    dataset = tf.data.Dataset.range(20).shuffle(20, seed=1)

    @tf.function
    def rows():
        return [row for row in dataset]  # noqa: C416 - the loop is what is tested

    first, second = ([int(row) for row in rows()] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    dataset = tf.data.Dataset.range(20).shuffle(20, seed=1)
    assert first == [int(row) for row in dataset]  # the abandoned trace began no pass


def test_a_dataset_is_reduced_as_outside():
    total = tf.function(lambda dataset: dataset.reduce(np.int64(0), lambda a, b: a + b))
    assert [int(total(tf.data.Dataset.range(rows))) for rows in (5, 7)] == [10, 21]


# The end.


def test_the_end_of_the_data_is_an_out_of_range_error():
    strategy = mirrored()
    iterator, seen = iter(distributed(strategy, 8)), []

    @tf.function
    def step(iterator):
        x, _ = next(iterator)
        return strategy.reduce("SUM", x, axis=0)

    try:
        while True:
            seen.append(float(step(iterator)))
    except tf.errors.OutOfRangeError:
        assert seen == [10, 26]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(iterator)


def test_optionals_tell_the_end_in_a_loop():
    strategy = mirrored()

    @tf.function
    def total(iterator):
        found = 0.0
        optional = iterator.get_next_as_optional()
        while optional.has_value():
            found += strategy.reduce("SUM", optional.get_value()[0], axis=0)
            optional = iterator.get_next_as_optional()
        return found

    assert float(total(iter(distributed(strategy, 7)))) == 28
    assert float(total(iter(distributed(strategy, 0)))) == 0


def test_code_that_catches_exceptions_does_not_catch_the_end_of_the_trace():
    @tf.function
    def first(iterator):
        try:
            return next(iterator)
        except Exception:
            return -1

    assert int(first(iter(tf.data.Dataset.range(4, 9)))) == 4


# What is compiled.


def test_functions_made_anew_in_each_call_are_compiled_once():
    trainer = Trainer(mirrored())

    @tf.function
    def epoch(data, scale):
        total = 0.0
        for batch in data:

            def step(batch):
                return trainer.step(batch) * scale

            for fn in (step, tf.function(step)):
                losses = trainer.strategy.run(fn, args=(batch,))
                total += trainer.strategy.reduce("SUM", losses, axis=None)
        return total

    for _ in range(3):
        epoch(distributed(trainer.strategy, 7), 2.0)
    assert trace_counts(trainer.strategy) == [1]


def test_functions_within_are_programs():
    trainer = Trainer(mirrored())
    train = tf.function(trainer.train)

    @tf.function
    def epoch(data):
        for batch in data:
            train(batch)

    for _ in range(2):
        epoch(distributed(trainer.strategy, 7))
    assert train.experimental_get_tracing_count() == 1
    assert trace_counts(trainer.strategy) == []


def test_a_function_in_a_function_is_python_too():
    strategy = mirrored()

    @tf.function
    def take(iterator):
        return strategy.reduce("SUM", next(iterator)[0], axis=0)

    @tf.function
    def both(iterator):
        return take(iterator) + take(iterator)

    assert float(both(iter(distributed(strategy, 8)))) == 36
    assert float(take(iter(distributed(strategy, 8)))) == 10


def test_results_are_arrays_as_those_of_programs():
    variable = tf.Variable(1.5)

    @tf.function
    def results(dataset):
        for _ in dataset:
            pass
        return {"number": 1, "row": np.float32(2.0), "variable": variable, "nothing": None}

    found = results(tf.data.Dataset.range(2))
    assert found["nothing"] is None
    assert [found[key].numpy() for key in ("number", "row", "variable")] == [1, 2.0, 1.5]
    assert found["number"].dtype == jnp.int32


def test_there_is_no_program_to_look_at():
    strategy = mirrored()

    @tf.function
    def epoch(data, k):
        for _ in tf.range(k):
            next(data)

    for _ in range(2):
        with pytest.raises(NotImplementedError, match="epoch asks a dataset for elements"):
            epoch.get_concrete_function(iter(distributed(strategy, 8)), 2)
        epoch(iter(distributed(strategy, 8)), 2)


# Where it is refused.


def test_a_replica_does_not_ask():
    strategy = mirrored()
    data = distributed(strategy, 8)
    iterator = iter(data)

    def in_merge_call():
        replica: Any = tf.distribute.get_replica_context()
        return replica.merge_call(lambda strategy: next(iterator))

    for ask in (lambda: next(iterator), lambda: list(data), in_merge_call):
        with pytest.raises(ValueError, match=r"strategy.run\(step, args="):
            tf.function(lambda ask=ask: strategy.run(ask))()
    assert strategy.reduce("SUM", next(iterator)[0], axis=0) == 10


def test_a_step_of_the_engine_does_not_ask():
    strategy = mirrored()
    iterator = iter(distributed(strategy, 8))
    step = spmd.step.CrossReplicaStep(lambda: next(iterator), strategy.mesh)
    with pytest.raises(ValueError, match="keep this one batch forever"):
        step()
