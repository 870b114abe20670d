"""`x.ref()`: arrays and variables in sets and dictionaries."""

import pytest

from frontends import tf


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_references_are_equal_if_they_are_of_the_same_object(make):
    first, second = make([1.0]), make([1.0])
    assert first.ref() == first.ref() == first.experimental_ref()
    assert first.ref() != second.ref()
    assert {first.ref(): "first", second.ref(): "second"}[first.ref()] == "first"
    assert first.ref().deref() is first
    assert first.ref() != first.ref().deref
    assert repr(first.ref()).startswith("<Reference wrapping ")


def test_in_a_program():
    @tf.function
    def count(x, y):
        return len({x.ref(), y.ref(), x.ref()}) * x

    assert count(tf.constant(1.0), tf.constant(2.0)) == 2
