"""Functions whose loops read iterators: one program, with the numbers of the same function run as Python."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf import fed_loops

ROWS = np.random.RandomState(0).randn(60, 3).astype(np.float32)


class Training:
    """A model, its data, and what the function has done."""

    def __init__(self, strategy, rows=ROWS, batch_size=8):
        self.strategy, self.turns_in_python = strategy, 0
        with strategy.scope():
            self.weight = tf.Variable(tf.ones([3]))
            self.count = tf.Variable(0)
        dataset = tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)
        self.batches = strategy.experimental_distribute_dataset(dataset)

    def replica_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.reduce_sum(x * self.weight, 1) - 1) ** 2)
        gradient = tape.gradient(loss, self.weight)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        self.weight.assign_sub(0.001 * total)
        return loss

    @tf.autograph.experimental.do_not_convert
    def note_turn(self):
        self.turns_in_python += 1

    def loop(self, iterator, steps):
        loss = 0.0
        for _ in tf.range(steps):
            self.note_turn()
            each = self.strategy.run(self.replica_step, args=(next(iterator),))
            loss += self.strategy.reduce("SUM", each, axis=None)
            self.count.assign_add(1)
        return loss


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def run(training, steps, *, eagerly):
    function = training.loop if eagerly else tf.function(training.loop)
    iterator = iter(training.batches)
    losses = [float(function(iterator, each)) for each in steps]
    rest = len(list(iterator))  # it goes on where the loops stopped
    return [*losses, rest, int(training.count), *training.weight.numpy()]


@pytest.mark.parametrize("steps", [[3, 3], [tf.constant(2), tf.constant(2)], [1, 4, 2], [7]])
def test_numbers_are_those_of_python(strategy, steps):
    fed = Training(strategy)
    found = run(fed, steps, eagerly=False)
    expected = run(Training(strategy), list(map(int, steps)), eagerly=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_loop_is_traced_and_not_run_by_python(strategy):
    training = Training(strategy)
    function = tf.function(training.loop)
    with iter(training.batches) as iterator:
        function(iterator, tf.constant(3))
        turns = training.turns_in_python
        function(iterator, tf.constant(3))
    assert training.turns_in_python == turns
    assert int(training.count) == 6
    assert function.experimental_get_tracing_count() == 1


def test_a_partial_batch_is_no_program(strategy):
    """60 rows are 7 batches of 8 and one of 4, whose loop runs as Python; nothing is read twice."""
    training = Training(strategy)
    function = tf.function(training.loop)
    iterator = iter(training.batches)
    found = [float(function(iterator, tf.constant(4))) for _ in range(2)]
    other = Training(strategy)
    batches = iter(other.batches)
    np.testing.assert_allclose(found, [float(other.loop(batches, 4)) for _ in range(2)], rtol=1e-6)
    assert next(iterator, None) is None
    with pytest.raises(tf.errors.OutOfRangeError):
        function(iterator, tf.constant(4))


def test_the_end_of_the_data_comes_in_its_turn(strategy):
    training = Training(strategy, ROWS[:40])
    function = tf.function(training.loop)
    iterator = iter(training.batches)
    function(iterator, tf.constant(3))
    with pytest.raises(tf.errors.OutOfRangeError):
        function(iterator, tf.constant(3))
    assert int(training.count) == 5  # two more turns had their batches


def test_several_reads_in_a_turn_and_several_loops(strategy):
    training = Training(strategy)

    def step(x, y):
        return tf.reduce_sum(x) - tf.reduce_sum(y)

    @tf.function
    def function(iterator):
        found = 0.0
        for _ in tf.range(2):
            pair = next(iterator), next(iterator)
            found += strategy.reduce("SUM", strategy.run(step, args=pair), axis=None)
        for _ in tf.range(3):
            training.count.assign_add(1)
            batch = next(iterator)
            found += strategy.reduce("SUM", strategy.run(step, args=(batch, batch)), axis=None)
        return found

    signs = np.repeat([1, -1, 1, -1], 8)[:, None]
    expected = (ROWS[:32] * signs).sum()
    np.testing.assert_allclose(float(function(iter(training.batches))), expected, rtol=1e-4)
    assert int(training.count) == 3


def test_branches_that_read_run_as_python(strategy):
    training = Training(strategy)

    @tf.function
    def function(iterator, steps):
        total = 0.0
        for i in tf.range(steps):
            batch = next(iterator)
            if i > 0:
                batch = next(iterator)
            each = strategy.run(lambda x: tf.reduce_sum(x), args=(batch,))
            total += strategy.reduce("SUM", each, axis=None)
        return total

    found = float(function(iter(training.batches), tf.constant(3)))
    expected = ROWS[0:8].sum() + ROWS[16:24].sum() + ROWS[32:40].sum()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_many_numbers_of_turns_are_not_compiled_anew(strategy, monkeypatch):
    monkeypatch.setattr(fed_loops, "_MOST_PROGRAMS", 1)
    training = Training(strategy)
    function = tf.function(training.loop)
    with iter(training.batches) as iterator:
        for steps in (2, 3, 1):
            function(iterator, tf.constant(steps))
    assert int(training.count) == 6


def test_too_many_bytes_are_not_taken(strategy, monkeypatch):
    monkeypatch.setattr(fed_loops, "_MOST_BYTES", 100)
    training = Training(strategy)
    assert run(training, [3], eagerly=False)[1:3] == [5, 3]


def test_an_error_of_the_step_reads_nothing_twice(strategy):
    training = Training(strategy)

    @tf.function
    def function(iterator):
        for _ in tf.range(2):
            training.strategy.run(lambda x: tf.reshape(x, [7]), args=(next(iterator),))

    iterator = iter(training.batches)
    with pytest.raises((ValueError, TypeError)):
        function(iterator)
    assert len(list(iterator)) == 7  # Python read one


def test_iterators_among_arguments(strategy):
    one, other = (iter(Training(strategy).batches) for _ in range(2))
    assert fed_loops.mesh_of_iterators((one, 3), {}) == strategy.mesh
    assert fed_loops.mesh_of_iterators((one, other), {}) == strategy.mesh
    assert fed_loops.mesh_of_iterators((3,), {}) is None
