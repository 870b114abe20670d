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
        assert_stmt(False, lambda: "too small")
    assert_stmt(True, lambda: "unused")

    def run(x):
        assert x.shape == (), "a scalar"
        return x

    assert float(tf.function(run)(tf.constant(1.0))) == 1
