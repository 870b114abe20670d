"""TensorFlow's spelling of what the engine's errors suggest."""

import re

import jax.numpy as jnp
import pytest

from frontends import tf
from spmd.errors import Remedy


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_has_a_spelling_with_the_same_fields(remedy):
    fields = {"count": "THE COUNT", "value": "THE VALUE"}
    engine, mine = remedy.value.format(**fields), remedy.spelled(**fields)
    assert mine != engine
    assert re.search(r"\btf\.|\bstrategy\.", mine)
    for field in fields.values():
        assert (field in engine) == (field in mine)


def test_an_error_of_the_engine_quotes_it():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(TypeError, match=r"strategy\.reduce\('SUM', value, axis=None\)"):
        float(strategy.run(lambda: jnp.ones(())))
