"""Arguments of convolutions and pooling."""

import pytest

from frontends.tf.compat.v1.layers import arguments


def test_axes():
    assert arguments.axes_of("Channels_Last", 3) == "NDHWC"
    with pytest.raises(ValueError, match=r"'channels_last'\. Received: NHWC"):
        arguments.axes_of("NHWC", 2)


def test_padding():
    assert arguments.padding_of("same") == "SAME"
    with pytest.raises(ValueError, match=r"one of 'valid', 'same'\. Received: causal"):
        arguments.padding_of("causal")


def test_sizes():
    assert arguments.sizes_of(2, 3, "strides") == (2, 2, 2)
    assert arguments.sizes_of([1, 2], 2, "strides") == (1, 2)
    for wrong in ((1, 2, 3), 0, None, "ab"):
        with pytest.raises(ValueError, match="`strides` argument must be a positive integer, or"):
            arguments.sizes_of(wrong, 2, "strides")
