"""Iterators of plain datasets: TensorFlow's ways to ask for the next element."""

import pytest

from frontends import tf


def test_next_and_get_next_take_turns():
    iterator = iter(tf.data.Dataset.range(3))
    assert [next(iterator), iterator.get_next(), next(iterator)] == [0, 1, 2]
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError, match="get_next_as_optional"):
        iterator.get_next()


def test_optionals_tell_the_end():
    iterator = iter(tf.data.Dataset.range(1))
    optional = iterator.get_next_as_optional()
    assert optional.has_value()
    assert optional.get_value() == 0
    assert not iterator.get_next_as_optional().has_value()


def test_it_knows_its_elements_and_is_what_tensorflow_calls_it():
    dataset = tf.data.Dataset.range(3).batch(2)
    iterator = iter(dataset)
    assert isinstance(iterator, tf.data.Iterator)
    assert iterator.element_spec == dataset.element_spec


def test_closing_closes_a_generator():
    closed = []

    def rows():
        try:
            yield from range(3)
        finally:
            closed.append(True)

    dataset = tf.data.Dataset.from_generator(
        rows, output_signature=tf.TensorSpec((), tf.int32)
    ).filter(lambda x: x >= 0)
    iterator = iter(dataset)
    next(iterator)
    iterator.close()
    iterator.close()
    assert closed


def test_a_replica_takes_nothing_from_an_iterator_made_outside():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    iterator = iter(tf.data.Dataset.range(3))
    with pytest.raises(ValueError, match=r"would keep this one element forever.*pass it"):
        strategy.run(lambda: next(iterator))
    assert int(next(iterator)) == 0
    own = strategy.run(lambda: sum(tf.data.Dataset.range(3)))
    assert int(own.values[0]) == 3


def test_an_optional_of_ones_own():
    found = tf.experimental.Optional.from_value({"a": 1.0})
    assert found.has_value()
    assert found.get_value()["a"].numpy() == 1.0
    empty = tf.experimental.Optional.empty(tf.TensorSpec([]))
    assert not empty.has_value()
    assert tf.experimental.Optional is tf.data.experimental.Optional
