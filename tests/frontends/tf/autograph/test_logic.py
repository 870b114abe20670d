"""`and`, `or`, `not` and `assert`."""

import pytest

from frontends import tf
from frontends.tf.autograph.logic import and_, assert_stmt, not_, or_
from tests.frontends.tf.autograph.helpers import both


def test_python_keeps_its_short_cuts() -> None:
    def never():
        raise AssertionError

    assert and_(lambda: 0, never) == 0
    assert or_(lambda: "a", never) == "a"
    assert and_(lambda: 1, lambda: "b") == "b"
    assert not_([]) is True


def test_tensors() -> None:
    def run(x):
        return (x > 1 and x < 3), (x < 1 or x > 3), (not x > 1), (True and x > 1), (x > 1 or False)

    assert both(run, 2.0) == (True, False, False, True, True)
    assert both(run, 5.0) == (False, True, False, True, True)


def test_assertions() -> None:
    with pytest.raises(AssertionError, match="too small"):
        assert_stmt(False, lambda: "too small", "x > 1")
    with pytest.raises(AssertionError) as caught:
        assert_stmt(False, lambda: None, "x > 1")
    assert str(caught.value) == ""
    assert_stmt(True, lambda: "unused", "x > 1")

    def run(x):
        assert x.shape == (), "a scalar"
        return x

    assert float(tf.function(run)(tf.constant(1.0))) == 1


def test_a_failed_assertion_of_a_tensor_shows_its_message() -> None:
    limit = 1.0

    @tf.function
    def stated(x):
        assert x > limit, f"expected more than {limit}"
        return x

    @tf.function
    def bare(x):
        assert limit < x < 10.0
        return x

    for function in (stated, bare):
        assert float(function(tf.constant(2.0))) == 2
    with pytest.raises(ValueError, match=r"expected more than 1\.0"):
        stated(tf.constant(0.5))
    with pytest.raises(ValueError, match=r"limit < x < 10\.0"):
        bare(tf.constant(20.0))
