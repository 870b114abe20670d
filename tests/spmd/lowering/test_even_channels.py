"""Tests of convolutions that get a channel of zeros, against XLA's."""

import jax.numpy as jnp
import jaxlib.version
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmd.lowering import Thresholds
from tests.spmd.lowering.rewrites import (
    LAYOUT,
    assert_close,
    both,
    convolution,
    numbers,
    operands_of,
)


@pytest.fixture(autouse=True)
def release(monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version__", "0.10.2")


# Takes small operations.
SMALL = Thresholds(work=0)


@settings(max_examples=10, deadline=None)
@given(
    st.tuples(st.integers(1, 3), st.integers(2, 4)),
    st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.sampled_from(["SAME", "VALID", ((2, 1), (0, 3))]),
    st.sampled_from([LAYOUT, ("NCHW", "OIHW", "NCHW")]),
    st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16]),
)
def test_equals_xla(window, strides, dilation, padding, layout, dtype):
    run = convolution(
        window_strides=strides, padding=padding, rhs_dilation=dilation, dimension_numbers=layout
    )
    sizes = {"N": 2, "C": 3, "H": 9, "W": 8}
    kernels = {"I": 3, "O": 20, "H": window[0], "W": window[1]}
    image, kernel = operands_of(layout, sizes, kernels, dtype)
    plain, better, names = both(run, image, kernel, thresholds=SMALL)
    assert "even_channels" in names
    assert_close(plain, better)


@pytest.mark.parametrize(
    ("channels", "outputs", "padded"),
    [
        (3, 16, False),
        (3, 17, True),
        (3, 32, True),
        (3, 33, False),
        (3, 64, False),
        (1, 32, False),
        (4, 32, False),
        (5, 24, True),
        (7, 40, True),
        (5, 40, False),
        (9, 48, False),
        (3, 96, False),
        (7, 96, True),
        (7, 100, False),
        (11, 100, True),
    ],
)
def test_channels_and_outputs_decide(channels, outputs, padded, monkeypatch):
    """As measured: `python -m tests.benchmarks.lowerings --only "3 channels,"`."""

    def names():
        run = convolution(window_strides=(1, 1), padding="SAME")
        operands = numbers(4, 8, 8, channels), numbers(3, 3, channels, outputs)
        *_, taken = both(lambda *operands: run(*operands)[:1], *operands, thresholds=SMALL)
        return [name for name in taken if name == "even_channels"]

    assert names() == ["even_channels"] * padded
    monkeypatch.setattr(jaxlib.version, "__version__", "0.12.0")
    assert names() == []


def test_an_odd_batch_is_the_channels_of_the_kernel_gradient():
    run = convolution(window_strides=(1, 1), padding="SAME")
    plain, better, names = both(run, numbers(3, 8, 8, 8), numbers(3, 3, 8, 24), thresholds=SMALL)
    assert names == ["even_channels"]
    assert_close(plain, better)
