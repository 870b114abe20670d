"""Unit tests that compare arrays."""

import io
import unittest

import numpy as np
import pytest

from frontends import tf


class Passing(tf.test.TestCase):
    """Tests that pass."""

    __test__ = False  # for pytest

    def test_comparisons(self):
        x = tf.constant([1.0, 2.0])
        self.assertAllClose([1.0, 2.0], x)
        self.assertAllClose({"a": x, "b": 1.0}, {"a": [1.0, 2.0], "b": np.float32(1)})
        self.assertAllEqual([[1, 2]], tf.constant([[1, 2]]))
        self.assertNotAllClose(x, x + 0.1)
        self.assertAllCloseAccordingToType([1.0], tf.constant([1.005], tf.bfloat16))
        self.assertAllGreater(x, 0)
        self.assertAllLess(x, 3)
        self.assertNear(1.0, 1.1, 0.2)
        self.assertShapeEqual(np.zeros(2), x)
        assert isinstance(self.evaluate({"x": x})["x"], np.ndarray)
        assert tf.gfile.IsDirectory(self.get_temp_dir())


def test_a_case_passes():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Passing)
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    assert result.wasSuccessful()
    assert (result.testsRun, len(result.skipped)) == (2, 1)  # test_session is none


@pytest.mark.parametrize(
    "check",
    [
        lambda case: case.assertAllClose([1.0], [1.1]),
        lambda case: case.assertAllClose([1.0], [[1.0]]),
        lambda case: case.assertAllClose({"a": 1.0}, {"b": 1.0}),
        lambda case: case.assertAllEqual([1], [2]),
        lambda case: case.assertAllEqual([1], [[1]]),
        lambda case: case.assertNotAllClose([1.0], [1.0]),
        lambda case: case.assertNear(1.0, 2.0, 0.5),
        lambda case: case.assertShapeEqual(np.zeros(2), np.zeros(3)),
    ],
)
def test_what_differs_fails(check):
    with pytest.raises((AssertionError, ValueError)):
        check(tf.test.TestCase())


def test_sessions_say_what_to_write():
    with pytest.raises(NotImplementedError, match="leave out"):
        tf.test.TestCase().session()
    assert tf.test.main is unittest.main
