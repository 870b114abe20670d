"""Control flow, scopes and printing, eagerly, in a program and in replicas."""

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


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "program"])
def test_cond_and_while_loop(wrap):
    chosen = wrap(lambda x: tf.cond(x > 1, lambda: {"a": x * 2}, lambda: {"a": 0.0}))
    assert chosen(jnp.float32(3))["a"] == 6
    assert chosen(jnp.float32(1))["a"] == 0

    def power(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.constant(1.0)))

    count, result = wrap(power)(jnp.float32(2))
    assert (count, result) == (3, 8)
    bounded = wrap(
        lambda x: tf.while_loop(lambda y: y < 100, lambda y: [y * x], [x], maximum_iterations=2)
    )
    (result,) = bounded(jnp.float32(3))
    assert result == 27
    assert wrap(lambda x: tf.while_loop(lambda y: y < 9, lambda y: y * 2, x))(jnp.int32(3)) == 12


def test_gradients_through_eager_control_flow():
    assert jax.grad(lambda x: tf.cond(x > 1, lambda: x * 2, lambda: x))(3.0) == 2


def test_cond_calls_one_function_eagerly():
    called = []
    tf.cond(tf.constant(True), lambda: called.append(1), lambda: called.append(2))
    assert called == [1]
    with pytest.raises(TypeError, match="both"):
        tf.cond(True, lambda: 1)


def test_map_fn():
    x = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    np.testing.assert_allclose(tf.map_fn(tf.reduce_sum, x, parallel_iterations=4), x.sum(1))
    pair = tf.map_fn(lambda t: (t[0] + t[1], t[0]), (x, x), fn_output_signature=tf.float32)
    np.testing.assert_allclose(pair[0], 2 * x)


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


def test_print_elsewhere(capsys):
    tf.print(1, output_stream=sys.stdout)
    assert capsys.readouterr() == ("1\n", "")
    stream = io.StringIO()
    tf.print(1, output_stream=stream)
    assert stream.getvalue() == "1\n"
    with pytest.raises(ValueError, match="must be a stream"):
        tf.print(1, output_stream="file:///tmp/log")


def test_assertions():
    tf.debugging.assert_equal([1, 2], [1, 2])
    tf.debugging.assert_near(1.0, 1.0 + 1e-7)
    tf.debugging.assert_near([1.0], [1.5], atol=0.5)
    tf.debugging.assert_less([1], 2)
    tf.debugging.assert_greater(3, 2)
    assert tf.debugging.check_numerics([1.0], "loss").shape == (1,)
    for check, arguments in [
        (tf.debugging.assert_equal, (1, 2)),
        (tf.debugging.assert_near, (1.0, 1.1)),
        (tf.debugging.assert_less, (2, 2)),
        (tf.debugging.assert_greater, (2, 2)),
    ]:
        with pytest.raises(ValueError, match=f"what: .*{check.__name__} failed"):
            check(*arguments, message="what")
    with pytest.raises(ValueError, match=r"loss: .*check_numerics"):
        tf.debugging.check_numerics([1.0, np.nan], "loss")


def test_an_assertion_says_that_a_program_leaves_it_out():
    with pytest.warns(RuntimeWarning, match="left out of the program"):
        jax.jit(lambda x: tf.debugging.check_numerics(x, "loss"))(1.0)

    @jax.jit
    def known(x):
        tf.debugging.assert_equal(tf.shape(x)[0], 2)
        return x

    known(jnp.zeros(2))
    with pytest.raises(ValueError, match="assert_equal failed"):
        known(jnp.zeros(3))
