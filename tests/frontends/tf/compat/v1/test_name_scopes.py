"""Tests of the module of this name."""

import pytest

from frontends.tf.compat import v1 as tf


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("crop",), "crop/"),
        (("crop", "default"), "crop/"),
        ((None, "default"), "default/"),
        ((None, "default", [1.0]), "default/"),
        ((None,), ""),
        ((None, None, [1.0]), ""),
    ],
)
def test_the_default_name_is_for_callers_that_give_none(arguments, expected) -> None:
    with tf.name_scope("outer"), tf.name_scope(*arguments) as scope:
        assert scope == (f"outer/{expected}" if expected else "")
        assert tf.Variable(1.0, name="w").name == f"{scope}w:0"
