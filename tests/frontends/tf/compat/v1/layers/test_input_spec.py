"""What layers check of their inputs."""

import jax.numpy as jnp
import pytest

from frontends import tf

InputSpec = tf.compat.v1.layers.InputSpec
X = jnp.ones((2, 3))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (InputSpec(ndim=3), "expected ndim=3, found ndim=2"),
        (InputSpec(min_ndim=3), "expected min_ndim=3, found ndim=2"),
        (InputSpec(max_ndim=1), "expected max_ndim=1, found ndim=2"),
        (InputSpec(dtype="int32"), "expected dtype=int32, found dtype=float32"),
        (InputSpec(axes={-1: 4}), "expected axis -1 of input shape to have value 4, found 3"),
        (InputSpec(shape=[None, 4]), r"expected shape=\(None, 4\), found shape=\(2, 3\)"),
    ],
)
def test_what_does_not_fit_is_an_error(spec, message):
    with pytest.raises(ValueError, match=f'Input 0 of layer "own" is incompatible .* {message}'):
        spec.check("own", X)


def test_what_fits():
    InputSpec(tf.float32, [None, 3], 2, 2, 2, {0: 2}, floating=True).check("own", X)
    InputSpec().check("own", jnp.ones(()))
    with pytest.raises(TypeError, match='"own" takes floating-point numbers'):
        InputSpec(floating=True).check("own", jnp.ones(2, int))


def test_a_layer_checks_each_of_its_inputs():
    layer = tf.compat.v1.layers.Layer()
    layer.input_spec = [InputSpec(ndim=2), InputSpec(ndim=1)]
    layer([X, X[0]])
    with pytest.raises(ValueError, match="expected ndim=1, found ndim=2"):
        layer([X, X])
