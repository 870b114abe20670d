"""Scopes and printing, eagerly, in a program and in replicas."""

import io
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf


def test_executing_eagerly():
    assert tf.executing_eagerly()
    seen = []
    tf.function(lambda: seen.append(tf.executing_eagerly()))()
    assert seen == [False]


def test_scopes_change_nothing():
    @tf.function
    def function(x):
        with (
            tf.device("/GPU:0"),
            tf.control_dependencies([x]),
            tf.init_scope(),
            tf.name_scope("layer") as name,
        ):
            assert name == "layer/"
            return tf.group(x, tf.no_op()) or tf.square(x)

    assert function(jnp.float32(3)) == 9
    assert "layer/" in function.get_concrete_function(jnp.float32(3)).hlo


# The texts are TensorFlow 2.21's.
@pytest.mark.parametrize(
    ("inputs", "options", "text"),
    [
        (("x", [0.0, 0.1]), {}, "x [0.0, 0.1]\n"),
        ((np.float32([0, 0.1, 2.5]), 1.0, None), {}, "[0 0.1 2.5] 1.0 None\n"),
        ((np.arange(10),), {}, "[0 1 2 ... 7 8 9]\n"),
        ((np.arange(10),), {"summarize": -1}, "[0 1 2 3 4 5 6 7 8 9]\n"),
        ((np.array([[1, 2], [3, 4]]),), {}, "[[1 2]\n [3 4]]\n"),
        ((np.array([True, False]),), {"end": ""}, "[1 0]"),
        ((np.int32(2), 3.5, "s", (1, np.float32(2))), {"sep": "|"}, "2|3.5|s|(1, 2)\n"),
        (({"a": [True, "t"]},), {}, "{'a': [True, 't']}\n"),
    ],
)
def test_print(inputs, options, text, capsys):
    inputs = [tf.constant(x) if isinstance(x, np.ndarray | np.generic) else x for x in inputs]
    tf.print(*inputs, **options)
    assert capsys.readouterr() == ("", text)


def test_print_shows_the_values_of_variables(capsys):
    rows, number = tf.Variable([1, 2]), tf.Variable(1.5)
    kernel = tf.keras.Variable([3.0])
    text = "[1 2] [[1 2], 1.5] {'a': [1 2], 'b': (1.5,)} [3]\n"  # TensorFlow 2.21's

    @tf.function
    def program():
        tf.print(rows, [rows, number], {"a": rows, "b": (number,)}, kernel)

    for one in (program.python_function, program):
        one()
        jax.effects_barrier()
        assert capsys.readouterr().err == text


def test_print_in_a_program(capsys):
    @tf.function
    def program(x):
        tf.print("loss", {"a": x}, x * 2)
        return x

    program(jnp.float32(1.5))
    program(jnp.float32(2.5))
    jax.effects_barrier()
    lines = sorted(capsys.readouterr().err.splitlines())
    assert lines == ["loss {'a': 1.5} 3", "loss {'a': 2.5} 5"]


def test_every_replica_prints(capsys):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        tf.print("id", index)
        return index

    tf.function(lambda: strategy.run(replica))()
    jax.effects_barrier()
    assert sorted(capsys.readouterr().err.splitlines()) == ["id 0", "id 1"]


def test_print_shows_the_value_of_the_only_replica(capsys):
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")

    def run():
        loss = strategy.run(lambda: tf.constant(5.0))
        tf.print("loss", loss, [loss])

    for one in (run, tf.function(run)):
        one()
        jax.effects_barrier()
        assert capsys.readouterr().err == "loss 5 [5]\n"  # as TensorFlow 2.21


def test_print_elsewhere(capsys):
    tf.print(1, output_stream=sys.stdout)
    assert capsys.readouterr() == ("1\n", "")
    stream = io.StringIO()
    tf.print(1, output_stream=stream)
    assert stream.getvalue() == "1\n"
    with pytest.raises(ValueError, match="must be a stream"):
        tf.print(1, output_stream="file:///tmp/log")


def test_prints_of_a_step_are_there_when_the_call_returns(capsys):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    @tf.function
    def outer(x):
        tf.print("outer", x)
        return strategy.run(lambda: tf.print("inner") or x)

    outer(tf.constant(1.0))
    assert sorted(capsys.readouterr().err.splitlines()) == ["inner", "inner", "outer 1"]
