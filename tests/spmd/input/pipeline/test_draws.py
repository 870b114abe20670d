"""Keys of what map functions draw."""

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.input.pipeline import draws
from spmd.input.pipeline.draws import TracedDraws, abstract_keys, needed


def test_each_draw_takes_a_key_of_its_own_and_says_its_seed():
    traced = TracedDraws(jnp.asarray([[1, 2], [3, 4]], jnp.uint32))
    assert [traced.take(seed).tolist() for seed in (None, (5,))] == [[1, 2], [3, 4]]
    assert traced.seeds == [None, (5,)]
    later = [tuple(traced.take(None).tolist()) for _ in range(2)]
    assert len({(1, 2), (3, 4), *later}) == 4


def test_a_function_without_keys_must_not_draw():
    with pytest.raises(RuntimeError, match="cannot draw"):
        TracedDraws(None).take(None)


def test_only_so_many_draws_have_keys(monkeypatch):
    monkeypatch.setattr(draws, "_MOST", 2)
    assert abstract_keys().shape == (2, 2)
    assert needed([None, (1,), None]) == (None, (1,))
    assert np.issubdtype(abstract_keys().dtype, np.uint32)
