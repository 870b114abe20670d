"""Precision and determinism; GPUs' part of it only as far as XLA is told."""

import jax
import jax.numpy as jnp
import pytest

from frontends import tf

experimental = tf.config.experimental


def test_tensor_float_32():
    assert experimental.tensor_float_32_execution_enabled()
    x = jnp.ones((8, 8))
    try:
        assert "DEFAULT" in jax.jit(lambda x: x @ x).lower(x).as_text()
        experimental.enable_tensor_float_32_execution(False)
        assert not experimental.tensor_float_32_execution_enabled()
        assert "HIGHEST" in jax.jit(lambda x: x @ x).lower(x).as_text()
        step = tf.distribute.OneDeviceStrategy("cpu:0")
        assert float(tf.reduce_sum(step.run(lambda x: x @ x, args=(x,)).values[0])) == 512
    finally:
        experimental.enable_tensor_float_32_execution(True)
    assert experimental.tensor_float_32_execution_enabled()


def test_determinism_needs_seeds(run_python):
    out = run_python(
        "-c",
        """
import os
from frontends import tf

tf.config.experimental.enable_op_determinism()
print(os.environ["XLA_FLAGS"].split()[-1])
for draw in (
    lambda: tf.random.uniform([2]),
    lambda: list(tf.data.Dataset.range(3).shuffle(3)),
    lambda: list(tf.data.Dataset.range(3).map(lambda x: tf.random.normal([]))),
):
    try:
        draw()
    except RuntimeError as error:
        print("a seed" in str(error))
print(tf.random.uniform([2], seed=1).shape, len(list(tf.data.Dataset.range(3).shuffle(3, seed=1))))
print(len(list(tf.data.Dataset.range(3).map(lambda x: x + 1))))
tf.random.set_seed(1)
first = tf.random.uniform([2])
print(len(list(tf.data.Dataset.range(3).shuffle(3))))
tf.random.set_seed(1)
print(bool((first == tf.random.uniform([2])).all()))
""",
    ).stdout.splitlines()
    assert out == [
        "--xla_gpu_deterministic_ops=true",
        *["True"] * 3,
        "(2,) 3",
        "3",
        "3",
        "True",
    ]


@pytest.mark.parametrize("platform", ["gpu", "cpu"])
def test_determinism_too_late(monkeypatch, platform, recwarn):
    monkeypatch.setattr("frontends.tf.config.numerics.require_seeds", lambda: None)
    monkeypatch.setattr(jax, "default_backend", lambda: platform)
    if platform == "gpu":
        with pytest.warns(UserWarning, match="xla_gpu_deterministic_ops"):
            experimental.enable_op_determinism()
    else:
        experimental.enable_op_determinism()
        assert len(recwarn) == 0
