"""Generators in programs, datasets and checkpoints; recorded cases hold their states to TensorFlow's."""

import pytest

from frontends import tf
from frontends.tf._step_state import GLOBAL_GENERATOR
from spmd.errors import ControlFlowError


def test_a_program_advances_the_state():
    generator = tf.random.Generator.from_seed(7)
    draw = tf.function(lambda: generator.uniform([2]))
    assert draw().tolist() != draw().tolist()
    assert generator.state.numpy().tolist() == [7 + 4 * 256, 0, 0]


def test_the_counter_has_two_numbers():
    generator = tf.random.Generator.from_state([-1, 0, 0], "philox")
    assert generator.skip(1).tolist() == [-1, 0, 0]  # the state before
    assert generator.state.numpy().tolist() == [255, 1, 0]


def test_maps_draw_another_number_for_each_element():
    generator = tf.random.Generator.from_seed(7)
    drawn = tf.data.Dataset.range(4).map(lambda x: generator.make_seeds(1)[0, 0])
    assert len({int(one) for one in drawn}) == 4
    assert generator.state.numpy().tolist() == [7, 0, 0]


def test_checkpoints_keep_the_state(tmp_path):
    generator = tf.random.Generator.from_seed(7)
    path = tf.train.Checkpoint(generator=generator).save(str(tmp_path / "c"))
    first = generator.uniform_full_int([2], tf.uint32).tolist()
    tf.train.Checkpoint(generator=generator).restore(path)
    assert generator.uniform_full_int([2], tf.uint32).tolist() == first


def test_the_generator_of_the_process():
    before = tf.random.get_global_generator()
    try:
        tf.random.set_global_generator(tf.random.Generator.from_seed(3))
        assert tf.random.experimental.get_global_generator().state.numpy().tolist() == [3, 0, 0]
    finally:
        tf.random.set_global_generator(before)
    with pytest.raises(ValueError, match="Unsupported algorithm"):
        tf.random.Generator.from_seed(1, "mersenne")


def test_what_a_program_splits_off_draws_in_no_loop_of_it():
    generator = tf.random.Generator.from_seed(7)

    @tf.function
    def in_a_loop():
        own, total = generator.split(1)[0], tf.constant(0.0)
        for _ in tf.range(4):
            total += own.normal([])
        return total

    @tf.function
    def in_a_tape(x):
        own = generator.split(1)[0]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * own.normal([])
        return tape.gradient(y, x), own.normal([])

    with pytest.raises(ControlFlowError, match="the same numbers at every turn"):
        in_a_loop()
    gradient, other = in_a_tape(tf.constant(2.0))
    assert gradient != other


def test_a_program_splits_generators():
    generator = tf.random.Generator.from_seed(7)

    @tf.function
    def draw():
        first, second = generator.split(2)
        return first.normal([3]), first.normal([3]), second.normal([3])

    drawn = [one.numpy().tolist() for one in (*draw(), *draw())]
    assert len({tuple(one) for one in drawn}) == 6
    assert generator.state.numpy().tolist() == [7 + 4 * 256, 0, 0]
    outside = tf.random.Generator.from_seed(7).split(2)
    assert outside[0].normal([3]).numpy().tolist() == drawn[0]


def test_replicas_make_the_generator_of_the_process(monkeypatch):
    monkeypatch.delitem(GLOBAL_GENERATOR, "generator", raising=False)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    draw = tf.function(lambda: strategy.run(lambda: tf.random.get_global_generator().normal([3])))
    drawn = [
        tuple(one.numpy().tolist())
        for _ in range(2)
        for one in strategy.experimental_local_results(draw())
    ]
    assert len(set(drawn)) == 4
