"""`tf.xla.experimental`."""

import pytest

from frontends import tf

xla = tf.xla.experimental


def test_compile():
    (total,) = xla.compile(lambda a, b: a + b, [tf.constant([1.0, 2.0]), 3.0])
    assert total.numpy().tolist() == [4.0, 5.0]
    assert xla.compile(lambda: None) == []


def test_compile_in_a_program():
    @tf.function
    def program(x):
        return xla.compile(lambda a: (a * 2, a + 1), [x])

    assert list(map(float, program(tf.constant(3.0)))) == [6.0, 4.0]


def test_inputs_are_a_list():
    with pytest.raises(TypeError, match=r"`inputs` must be a list or tuple.*write \[x\]"):
        xla.compile(lambda a: a, tf.constant(1.0))


def test_jit_scope():
    @tf.function
    def program(x):
        with xla.jit_scope():
            return x * 2

    assert float(program(tf.constant(3.0))) == 6.0
    refused = pytest.raises(RuntimeError, match="not supported when eager execution is enabled")
    with refused, xla.jit_scope():
        pass
