"""TensorFlow's spelling of what the engine's errors suggest."""

import ctypes
import re

import jax.numpy as jnp
import pytest

from frontends import tf
from spmd.errors import Remedy


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_has_a_spelling_with_the_same_fields(remedy):
    fields = {"count": "THE COUNT", "value": "THE VALUE", "name": "THE NAME"}
    engine, mine = remedy.value.format(**fields), remedy.spelled(**fields)
    assert mine != engine
    assert re.search(r"\btf\.|\bstrategy\.", mine)
    for field in fields.values():
        assert (field in engine) == (field in mine)


def test_an_error_of_the_engine_quotes_it():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(TypeError, match=r"strategy\.reduce\('SUM', value, axis=None\)"):
        float(strategy.run(lambda: jnp.ones(())))


def test_a_variable_that_a_step_does_not_find_is_to_be_passed_to_what_the_user_wrote():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable(1.0)
    identity = id(variable)

    def replica():
        return ctypes.cast(identity, ctypes.py_object).value + 1.0

    with pytest.raises(
        RuntimeError,
        match=r"Pass it as an argument, to the tf\.function and in it to strategy\.run",
    ):
        strategy.run(replica)
    assert float(strategy.run(lambda found: found + 1.0, args=(variable,)).values[0]) == 2.0
