"""Windows that slide along axes, against loops by hand."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.ops import windows

FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def wave(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def places(shape, size, strides):
    """The windows that lie in an array of this spatial shape: for each its index in the result, and its slices."""
    counts = [(n - k) // s + 1 for n, k, s in zip(shape, size, strides, strict=True)]
    for index in itertools.product(*map(range, counts)):
        starts = [i * s for i, s in zip(index, strides, strict=True)]
        yield index, tuple(slice(a, a + k) for a, k in zip(starts, size, strict=True))


def in_format(x, data_format):
    return np.moveaxis(x, -1, data_format.index("C"))


def back(x, data_format):
    return np.moveaxis(np.asarray(x), data_format.index("C"), -1)


@pytest.mark.parametrize(
    ("rank", "data_format"), [(rank, one) for rank, both in FORMATS.items() for one in both]
)
def test_windows_by_hand(rank, data_format):
    shape, size, strides = (5, 6, 4)[:rank], (2, 3, 2)[:rank], (2, 1, 1)[:rank]
    x, kernel = wave(2, *shape, 3), wave(*size, 3, 4)
    given = jnp.asarray(in_format(x, data_format))
    results = {
        "convolution": windows.convolution(
            given, jnp.asarray(kernel), strides, "valid", data_format
        ),
        "max": windows.max_pool(given, size, strides, "VALID", data_format),
        "avg": windows.avg_pool(given, size, strides, "VALID", data_format),
    }
    axes = tuple(range(1, rank + 1))
    for index, place in places(shape, size, strides):
        part = x[:, *place]
        expected = {
            "convolution": np.tensordot(part, kernel, rank + 1),
            "max": part.max(axes),
            "avg": part.mean(axes),
        }
        for name, result in results.items():
            found = back(result, data_format)[:, *index]
            np.testing.assert_allclose(found, expected[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("data_format", FORMATS[2])
@pytest.mark.parametrize(("size", "strides"), [((3, 2), (2, 1)), ((2, 4), (3, 2)), ((1, 1), 2)])
def test_a_transposed_convolution_is_the_gradient_of_one(padding, data_format, size, strides):
    kernel = jnp.asarray(wave(*size, 3, 4))  # from 3 channels to 4, and back
    y = jnp.asarray(in_format(wave(2, 4, 5, 4), data_format))
    result = windows.transposed_convolution(y, kernel, strides, padding, data_format)
    forward = lambda x: windows.convolution(x, kernel, strides, padding, data_format)  # noqa: E731
    gradient = jax.vjp(forward, jnp.zeros_like(result))[1](y)[0]
    np.testing.assert_allclose(result, gradient, rtol=1e-4, atol=1e-5)


def test_sizes_may_be_given_for_each_axis():
    x = jnp.asarray(wave(1, 4, 4, 2))
    short = windows.avg_pool(x, 2, (2, 1), "SAME", "NHWC")
    np.testing.assert_array_equal(
        short, windows.avg_pool(x, (1, 2, 2, 1), (1, 2, 1, 1), "SAME", "NHWC")
    )
    padded = windows.max_pool(x, 2, 2, [[0, 0], [1, 1], [0, 2], [0, 0]], "NHWC")
    assert padded.shape == (1, 3, 3, 2)


def test_channels_in_groups():
    x, kernel = wave(2, 5, 4), wave(3, 2, 6)
    result = windows.convolution(jnp.asarray(x), jnp.asarray(kernel), 1, "VALID", "NWC", 2)
    for group, (inputs, outputs) in enumerate([((0, 1), (0, 1, 2)), ((2, 3), (3, 4, 5))]):
        part = np.tensordot(x[:, ::2][..., inputs], kernel[..., outputs], 2)
        np.testing.assert_allclose(
            result[:, 0, 3 * group : 3 * group + 3], part, rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    ("x", "kernel", "message"),
    [
        ((2, 3), (3, 3, 1, 4), r"input of 4 axes, NHWC, .* got the shapes \(2, 3\)"),
        ((2, 8, 8, 1), (4,), r"Give the filter as a tensor"),
        ((2, 8, 8, 3), (3, 3, 2, 4), r"has 3 channels \(NHWC\), but the filter .* takes 2"),
    ],
)
def test_shapes_that_do_not_fit_are_told(x, kernel, message):
    with pytest.raises(ValueError, match=message):
        windows.convolution(jnp.ones(x), jnp.ones(kernel), 1, "SAME", "NHWC")
