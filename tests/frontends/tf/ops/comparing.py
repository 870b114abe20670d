"""Compares what functions of `tf` return with NumPy: dtype, shape and entries."""

import numpy as np


def same(actual, expected, dtype=None, rtol=1e-6, atol=0):
    if isinstance(actual, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other, dtype, rtol, atol)
        return
    assert actual.dtype == (dtype or np.asarray(expected).dtype)
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=rtol, atol=atol)


def close(actual, expected, dtype=None):
    same(actual, expected, dtype, rtol=2e-5, atol=1e-6)
