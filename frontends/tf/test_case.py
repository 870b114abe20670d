"""`tf.test.TestCase`: unit tests that compare arrays."""

import random
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.ops.random import set_seed

_SEED = 87654321
# By the name of a dtype: how much values may differ, relatively and absolutely.
_CLOSE = {"float16": 1e-3, "bfloat16": 1e-2}


class TestCase(unittest.TestCase):
    """A case of Python's `unittest` whose tests begin with the same seeds, and that compares arrays.

    There are no sessions: what `self.evaluate` is given has its values already.

    Source: `tf.test.TestCase`.
    """

    def setUp(self) -> None:
        """Sets the seeds.

        Source: `tf.test.TestCase.setUp`.
        """
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        set_seed(_SEED)

    def get_temp_dir(self) -> str:
        """Returns a folder of the test's own, which is removed after it.

        Source: `tf.test.TestCase.get_temp_dir`.
        """
        if not hasattr(self, "_folder"):
            self._folder = tempfile.mkdtemp()
            self.addCleanup(shutil.rmtree, self._folder, ignore_errors=True)
        return str(Path(self._folder))

    def evaluate(self, tensors: Nested) -> Any:
        """Returns arrays of NumPy in the structure of tensors and variables.

        Source: `tf.test.TestCase.evaluate`.
        """
        return nest.map_structure(np.asarray, tensors)

    def session(self, *args: object, **kwargs: object) -> Any:
        """Raises an error that says what to write.

        Raises:
            NotImplementedError: always.

        Source: `tf.test.TestCase.session`.
        """
        raise NotImplementedError(
            "There are no sessions: leave out `with self.session():`, and compare what functions return, such as "
            "self.assertAllClose(expected, found)."
        )

    cached_session = session

    def test_session(self, *args: object, **kwargs: object) -> Any:
        """Is no test, but `session` under its first name.

        Source: `tf.test.TestCase.test_session`.
        """
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        self.session()

    def assertAllClose(
        self, a: Nested, b: Nested, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless all elements of two structures are close: `|a - b| <= atol + rtol * |b|`.

        Source: `tf.test.TestCase.assertAllClose`.
        """
        self._compare(
            a,
            b,
            lambda x, y: np.testing.assert_allclose(x, y, rtol, atol, err_msg=msg or ""),
        )

    def assertAllCloseAccordingToType(
        self, a: Nested, b: Nested, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless all elements are close; those of 16 bits may differ more.

        Source: `tf.test.TestCase.assertAllCloseAccordingToType`.
        """

        def compare(x: Any, y: Any) -> None:
            least = max(_CLOSE.get(np.asarray(one).dtype.name, 0.0) for one in (x, y))
            np.testing.assert_allclose(
                np.asarray(x, np.float64),
                np.asarray(y, np.float64),
                max(rtol, least),
                max(atol, least),
                err_msg=msg or "",
            )

        self._compare(a, b, compare)

    def assertAllEqual(self, a: TensorLike, b: TensorLike, msg: str | None = None) -> None:
        """Fails unless two arrays have the same shape and the same elements.

        Source: `tf.test.TestCase.assertAllEqual`.
        """
        x, y = np.asarray(a), np.asarray(b)
        _check(x.shape == y.shape, msg or f"shapes {x.shape} and {y.shape}")
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertNotAllClose(
        self, a: Nested, b: Nested, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails if all elements of two structures are close.

        Raises:
            AssertionError: all elements are close.

        Source: `tf.test.TestCase.assertNotAllClose`.
        """
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are close at all elements.")

    def assertAllGreater(self, a: TensorLike, comparison_target: TensorLike) -> None:
        """Fails unless all elements are greater.

        Source: `tf.test.TestCase.assertAllGreater`.
        """
        _check(bool(np.all(np.asarray(a) > comparison_target)), f"{a} > {comparison_target}")

    def assertAllLess(self, a: TensorLike, comparison_target: TensorLike) -> None:
        """Fails unless all elements are less.

        Source: `tf.test.TestCase.assertAllLess`.
        """
        _check(bool(np.all(np.asarray(a) < comparison_target)), f"{a} < {comparison_target}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Fails unless two numbers differ by at most `err`.

        Source: `tf.test.TestCase.assertNear`.
        """
        _check(abs(float(f1) - float(f2)) <= err, msg or f"{f1} and {f2} differ by more than {err}")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless two arrays have the same shape.

        Source: `tf.test.TestCase.assertShapeEqual`.
        """
        first, second = tuple(input_a.shape), tuple(input_b.shape)
        _check(first == second, msg or f"shapes {first} and {second}")

    def _compare(self, a: Nested, b: Nested, compare: Any) -> None:
        nest.assert_same_structure(_of_lists(a), _of_lists(b))
        for x, y in zip(nest.flatten(_of_lists(a)), nest.flatten(_of_lists(b)), strict=True):
            _check(np.shape(x) == np.shape(y), f"shapes {np.shape(x)} and {np.shape(y)}")
            compare(np.asarray(x), np.asarray(y))


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _of_lists(value: Any) -> Any:
    """Makes arrays of lists of numbers, so that a list compares with an array."""
    if isinstance(value, dict):
        return {key: _of_lists(one) for key, one in value.items()}
    try:
        return np.asarray(value)
    except ValueError:  # of several shapes
        return [_of_lists(one) for one in value]
