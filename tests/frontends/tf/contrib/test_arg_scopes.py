"""Arguments that functions get in a block."""

import pytest

from frontends import tf

arg_scope, add_arg_scope = tf.contrib.framework.arg_scope, tf.contrib.framework.add_arg_scope


@add_arg_scope
def layer(x, a=1, b=2):
    """A layer."""
    return x, a, b


@add_arg_scope
def other(x, a=1):
    return x, a


def test_a_scope_adds_to_those_around():
    with arg_scope([layer, other], a=5) as outer:
        assert (layer(0), other(0)) == ((0, 5, 2), (0, 5))
        with arg_scope([layer], b=7):
            assert (layer(0), layer(0, a=3), other(0)) == ((0, 5, 7), (0, 3, 7), (0, 5))
            with arg_scope(outer):
                assert layer(0) == (0, 5, 2)
    assert layer(0) == (0, 1, 2)
    assert layer.__doc__ == "A layer."


def test_what_takes_none():
    with pytest.raises(ValueError, match="add_arg_scope"), arg_scope([len], a=1):
        pass
    with pytest.raises(ValueError, match="kwargs must be empty"), arg_scope({}, a=1):
        pass
