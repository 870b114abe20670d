"""What runs, and hashes of bytes; recorded cases hold them to TensorFlow's."""

import time

import pytest

from frontends import tf


def test_programs_are_told_from_eager_code():
    asked = []
    tf.function(lambda x: asked.extend([tf.inside_function(), tf.is_symbolic_tensor(x)]))(
        tf.ones(1)
    )
    assert asked == [True, True]
    assert not tf.inside_function()


def test_seconds_and_hashes():
    assert abs(float(tf.timestamp()) - time.time()) < 300
    assert tf.fingerprint(["a"]).shape == (1, 8)
    with pytest.raises(ValueError, match="There is: farmhash64"):
        tf.fingerprint(["a"], method="md5")


@pytest.mark.parametrize(
    ("data", "first"),
    [([[1, 2], [3, 4]], 76), ([1.5, 2.5], 64), ([2**40], 205), ([[1], [2]], 84), ([True], 62)],
)
def test_hashes_of_numbers_of_python(data, first):
    assert tf.fingerprint(data)[0, 0] == first  # as TensorFlow 2.21
