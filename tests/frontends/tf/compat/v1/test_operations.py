"""Operations that only TensorFlow 1 has, and names that TensorFlow 2 moved."""

import numpy as np
import pytest

from frontends import tf

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("cast", "dtype"), [("to_float", "float32"), ("to_int32", "int32"), ("to_int64", "int64")]
)
def test_casts(cast, dtype):
    found = getattr(v1, cast)([1.7, -1.7])
    assert found.dtype == tf.cast(0, dtype).dtype
    np.testing.assert_array_equal(found, np.array([1.7, -1.7]).astype(dtype).astype(found.dtype))


def test_to_double():
    assert v1.to_double(1).dtype == tf.cast(1, "float64").dtype


@pytest.mark.parametrize(
    ("x", "y", "expected"), [(7, 2, 3), (-7, 2, -4), (7.0, 2.0, 3.5), ([4, 9], 2, [2, 4])]
)
def test_a_division_of_whole_numbers_is_whole(x, y, expected):
    np.testing.assert_array_equal(tf.div(x, y), expected)


def test_positions_of_extremes():
    rows = [[1, 5, 2], [7, 0, 3]]
    np.testing.assert_array_equal(tf.arg_max(rows, 1), [1, 0])
    np.testing.assert_array_equal(tf.arg_min(rows, dimension=0), [0, 1, 0])


def test_multinomial_draws_classes_of_rows():
    drawn = tf.multinomial([[0.0, -1e9], [-1e9, 0.0]], 3, output_dtype=tf.int32)
    np.testing.assert_array_equal(drawn, [[0, 0, 0], [1, 1, 1]])
    assert drawn.dtype == np.int32


@pytest.mark.parametrize("module", [tf, v1])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("truncated_normal", "random.truncated_normal"),
        ("random_uniform", "random.uniform"),
        ("rsqrt", "math.rsqrt"),
        ("matrix_diag", "linalg.diag"),
        ("py_func", "numpy_function"),
    ],
)
def test_names_that_moved(module, old, new):
    expected = tf
    for part in new.split("."):
        expected = getattr(expected, part)
    assert getattr(module, old) is expected


def test_print_prints_in_programs_and_returns_its_input(capfd):
    @tf.function
    def double(x):
        return 2 * tf.Print(x, [x, tf.reduce_sum(x)], message="x: ", first_n=2, summarize=1)

    for i in range(3):
        assert double(tf.constant([1.0 + i, 2.0, 3.0, 4.0])).numpy()[0] == 2 + 2 * i
    assert capfd.readouterr().err == "x:  [1 ... 4] 10\nx:  [2 ... 4] 11\n"
    assert tf.Print(3, ["text"]) == 3
    assert capfd.readouterr().err == "text\n"
