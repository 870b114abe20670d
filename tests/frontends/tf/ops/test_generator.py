"""Generators in programs, datasets and checkpoints; recorded cases hold their states to TensorFlow's."""

import pytest

from frontends import tf


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
