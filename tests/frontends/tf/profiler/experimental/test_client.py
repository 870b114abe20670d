"""Traces of other processes are refused, with what to do instead."""

import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("call", "arguments"), [("trace", ("grpc://a:1", "/tmp", 5)), ("monitor", ("grpc://a:1", 5))]
)
def test_says_what_to_do(call, arguments):
    with pytest.raises(NotImplementedError, match=rf"client\.{call}\('grpc://a:1'.*server\.start"):
        getattr(tf.profiler.experimental.client, call)(*arguments)
