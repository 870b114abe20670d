"""`tf.TensorArray`; values and errors are TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere

X = np.float32([[1, 2], [3, 4], [5, 6]])
PROGRAM = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "program"])


def test_write_and_read():
    def function(x):
        array = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
        array = array.write(0, x[0]).write(2, [7.0, 8.0])
        return [array.read(2), array.read(1), array.stack(), array.gather([2, 0]), array.size()]

    stacked = [[1, 2], [0, 0], [7, 8]]
    assert everywhere(function, X) == [[7, 8], [0, 0], stacked, [[7, 8], [1, 2]], 3]


def test_unstack_split_scatter_and_concat():
    def function(x):
        array = tf.TensorArray(tf.float32, size=3)
        return [
            array.unstack(x).write(1, [0.0, 0.0]).concat(),
            tf.TensorArray(tf.float32, size=2).split(x, [1, 2]).concat(),
            tf.TensorArray(tf.float32, size=2).split(x, [1, 2]).read(1),
            tf.TensorArray(tf.float32, size=3).scatter([2, 0], x[:2]).stack(),
        ]

    assert everywhere(function, X) == [
        [1, 2, 0, 0, 5, 6],
        X.tolist(),
        [[3, 4], [5, 6]],
        [[3, 4], [0, 0], [1, 2]],
    ]


def test_eager_writes_change_the_array_and_those_of_programs_do_not():
    array = tf.TensorArray(tf.float32, size=1)
    assert array.write(0, 5.0) is array
    assert array.identity() is array

    def function(x):
        old = tf.TensorArray(tf.float32, size=1).write(0, x)
        new = old.write(0, x + 1)
        return old.read(0), new.read(0)

    assert tf.function(function)(tf.constant(1.0)) == (1, 2)


@PROGRAM
def test_an_array_that_grows(wrap):
    def function(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        return array.write(1, x).write(2, x * 2).stack(), array.dynamic_size

    assert wrap(lambda x: function(x)[0])(tf.constant(3.0)).tolist() == [0, 3, 6]
    assert function(tf.constant(3.0))[1]


@PROGRAM
def test_errors(wrap):
    def array(**options):
        return tf.TensorArray(tf.float32, **({"size": 2} | options))

    zero = tf.constant(0)
    for call, error, text in [
        (lambda: array().write(2, 1.0), tf.errors.OutOfRangeError, "index 2.*size is 2"),
        (lambda: array().write(-1, 1.0), tf.errors.OutOfRangeError, "index -1"),
        (lambda: array().read(2), tf.errors.OutOfRangeError, "read from index 2"),
        (lambda: array().write(0, zero), ValueError, r"dtype is float32.*tf\.cast"),
        (lambda: array().write(0, 1.0).write(1, [1.0]), ValueError, "Incompatible shape"),
        (lambda: array(element_shape=[None, 2]).write(0, [1.0]), ValueError, "Incompatible"),
        (lambda: array().unstack([1.0] * 3), ValueError, "Cannot unstack 3 tensors.* size 2"),
        (lambda: array().unstack(1.0), ValueError, "got a scalar"),
        (lambda: array().split([1.0, 2.0], [1, 2]), ValueError, "add up to 3"),
        (lambda: array().stack(), ValueError, "element_shape"),
        (lambda: array(handle=1), ValueError, "TensorFlow 1"),
        (lambda: array().grad("loss"), NotImplementedError, "GradientTape"),
    ]:
        with pytest.raises(error, match=text):
            wrap(lambda x, call=call: call() and x)(zero)


def test_what_only_eager_code_checks():
    with pytest.raises(ValueError, match="Size must be declared"):
        tf.TensorArray(tf.float32)
    array = tf.TensorArray(tf.float32, size=1).write(0, 1.0)
    array.read(0)
    with pytest.raises(ValueError, match=r"index 0 twice.*clear_after_read=False"):
        array.read(0)
    array.close()
    assert array.size() == 0


def test_elements_of_several_shapes():
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    array = array.write(0, [1.0]).write(1, [2.0, 3.0])
    assert array.concat().tolist() == [1, 2, 3]


def test_without_elements():
    assert tf.TensorArray(tf.int32, size=0).stack().shape == (0,)
    assert tf.TensorArray(tf.int32, size=0, element_shape=[3]).stack().shape == (0, 3)
    array = tf.TensorArray(tf.int32, size=0, element_shape=[None, 3])
    assert (array.dtype, array.element_shape.as_list()) == (tf.int32, [None, 3])
    assert "size=0" in repr(array)


def test_gradient():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)
            y = tf.reduce_sum(array.stack() * array.read(0)) + tf.reduce_sum(array.read(1) ** 2)
        return tape.gradient(y, x)

    assert everywhere(gradient, X) == [[10, 14], [7, 10], [1, 2]]


def test_in_a_loop_with_a_traced_index():
    def function(n):
        array = tf.TensorArray(tf.int32, size=5)
        _, array = tf.while_loop(
            lambda i, array: i < n, lambda i, array: (i + 1, array.write(i, i * i)), (0, array)
        )
        return array.stack(), array.gather(tf.stack([n - 1, 0])), array.read(n - 1), array.size()

    program = tf.function(function)
    for n in (3, 5):
        expected = [i * i if i < n else 0 for i in range(5)]
        found = program(tf.constant(n))
        assert found[0].tolist() == expected
        assert found[1].tolist() == [(n - 1) ** 2, 0]
        assert (found[2], found[3]) == ((n - 1) ** 2, 5)


def test_a_write_beyond_the_end_is_left_out_of_a_program():
    @tf.function
    def function(n):
        return tf.TensorArray(tf.int32, size=2).write(0, 1).write(n, 7).stack()

    assert [function(tf.constant(n)).tolist() for n in (1, 2, -1)] == [[1, 7], [1, 0], [1, 0]]


def test_growing_in_a_loop_of_known_length():
    def function(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(3):
            array = array.write(i, x * tf.cast(i, tf.float32))
        for j in tf.range(2):
            for _ in tf.range(2):
                array = array.write(array.size(), x + tf.cast(j, tf.float32))
        return array.stack()

    assert everywhere(function, 2.0) == [0, 2, 4, 2, 2, 3, 3]


def test_growing_by_two_elements_a_turn():
    def function(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for row in x:
            array = array.write(array.size(), row[0])
            array = array.write(array.size(), row[1])
        return array.stack()

    assert everywhere(function, X) == [1, 2, 3, 4, 5, 6]


def test_gradient_of_a_growing_array():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            power = x
            for i in tf.range(3):
                power *= x
                array = array.write(i, power)
            y = tf.reduce_sum(array.stack())
        return tape.gradient(y, x)

    assert everywhere(gradient, 2.0) == 2 * 2 + 3 * 4 + 4 * 8


def test_branches_that_write():
    def function(x):
        array = tf.TensorArray(tf.float32, size=2)
        array = tf.cond(x > 0, lambda: array.write(0, x), lambda: array.write(1, x))
        if x > 1:
            array = array.write(1, x)
        return array.stack()

    for x, expected in ((2.0, [2, 2]), (0.5, [0.5, 0]), (-1.0, [0, -1])):
        assert everywhere(function, x) == expected


def test_what_a_loop_of_unknown_length_needs():
    def grows(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, i)
        return array

    with pytest.warns(UserWarning, match=r"runs as Python.*size=n\) and without dynamic_size=True"):
        assert tf.function(lambda n: grows(n).stack())(tf.constant(3)).tolist() == [0, 1, 2]
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match=r"size=n\) and without dynamic_size=True"):
        strategy.run(lambda n: grows(n).stack(), args=(tf.constant(3),))

    def ends_early(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(4):
            if x[i] < 0:
                break
            array = array.write(i, x[i])
        return array

    x = tf.constant([1.0, 2.0, -1.0, 3.0])
    assert ends_early(x).stack().tolist() == [1, 2]
    with pytest.warns(UserWarning, match="known only when the program runs"):
        assert tf.function(lambda x: ends_early(x).stack())(x).tolist() == [1, 2]
    with pytest.raises(ValueError, match="known only when the program runs"):
        strategy.run(lambda x: ends_early(x).stack(), args=(x,))

    def size_and_element(x):
        array = ends_early(x)
        return array.size(), array.read(1)

    found = tf.function(size_and_element)(x)
    assert [int(one) for one in found] == [2, 2]
    with pytest.raises(ValueError, match="must be known while a program is traced"):
        tf.function(lambda n: tf.TensorArray(tf.int32, size=n).size())(tf.constant(3))
    with pytest.raises(ValueError, match="different shapes"):
        tf.function(
            lambda x: tf.cond(
                x[0] > 0,
                lambda: tf.TensorArray(tf.float32, 1).write(0, x),
                lambda: tf.TensorArray(tf.float32, 1).write(0, x[:1]),
            ).stack()
        )(x)


def test_it_is_a_pytree():
    array = tf.TensorArray(tf.float32, size=2).write(0, 1.0)
    doubled = jax.tree.map(lambda x: x * 2, array)
    assert doubled.read(0) == 2
    assert array.read(0) == 1
