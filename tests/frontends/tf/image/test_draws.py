"""Random numbers of augmentation."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.image import _draws


def in_a_map(function, count=200):
    """What a function draws in a map function that runs on elements."""
    return compiled(lambda x: [np.asarray(x), function()][1], count)


def compiled(function, count=200):
    """What a function draws in a map function."""
    return np.asarray(list(tf.data.Dataset.range(count).map(function)))


@pytest.mark.parametrize("drawn_by", [in_a_map, lambda draw: compiled(lambda _: draw())])
def test_draws_differ_between_elements_and_passes_of_one_seed_do_not(drawn_by):
    tf.random.set_seed(3)
    first = drawn_by(lambda: _draws.drawn(None))
    tf.random.set_seed(3)
    np.testing.assert_array_equal(drawn_by(lambda: _draws.drawn(None)), first)
    assert len(set(first.tolist())) == len(first)
    assert 0.4 < first.mean() < 0.6
    tf.random.set_seed(None)


def test_an_interval():
    found = in_a_map(lambda: _draws.drawn(5, (), 2.0, 4.0))
    assert found.min() >= 2
    assert found.max() < 4
    assert found.dtype == np.float32
    assert set(in_a_map(lambda: _draws.drawn_integer(None, 1, 4)).tolist()) == {1, 2, 3}
    assert {int(_draws.drawn_integer(None, 1, 4)) for _ in range(40)} == {1, 2, 3}


def test_stateless_numbers_are_the_same_everywhere():
    here = np.asarray(_draws.stateless([1, 2], (3,), 0.0, 5.0))
    np.testing.assert_array_equal(
        in_a_map(lambda: _draws.stateless([1, 2], (3,), 0.0, 5.0), 1)[0], here
    )
    program = tf.function(lambda seed: _draws.stateless(seed, (3,), 0.0, 5.0))
    np.testing.assert_allclose(program(tf.constant([1, 2])), here, rtol=1e-6)
    assert not np.array_equal(here, _draws.stateless([1, 3], (3,), 0.0, 5.0))
    assert int(_draws.stateless_integer([1, 2], 3, 9)) in range(3, 9)
