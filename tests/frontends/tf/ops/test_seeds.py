"""The global seed and the seed of an operation: which orders repeat, and which differ."""

import numpy as np
import pytest

from frontends.tf import random
from frontends.tf.data import Dataset
from frontends.tf.ops import seeds


@pytest.fixture(autouse=True)
def _no_seed_left_behind():
    yield
    random.set_seed(None)


def order(**kwargs):
    return [int(x) for x in Dataset.range(30).shuffle(30, **kwargs)]


def test_global_seed_makes_ops_without_a_seed_reproducible():
    random.set_seed(5)
    first = [order(), order()]
    random.set_seed(5)
    assert [order(), order()] == first
    assert first[0] != first[1]
    random.set_seed(6)
    assert order() != first[0]


def test_op_seed_alone_is_reproducible():
    assert order(seed=3) == order(seed=3)
    assert order(seed=3) != order(seed=4)


def test_global_and_op_seed_combine():
    alone = order(seed=3)
    random.set_seed(5)
    both = order(seed=3)
    assert both != alone
    order()
    assert order(seed=3) == both  # does not depend on how many ops came before


def test_an_op_seed_is_not_a_count_of_ops():
    random.set_seed(5)
    first = order()
    random.set_seed(5)
    assert order(seed=1) != first


def test_no_seed_differs_from_run_to_run():
    assert order() != order()


def test_negative_and_numpy_seeds_and_reset():
    random.set_seed(np.int64(-7))
    first = order()
    random.set_seed(-7)
    assert order() == first
    random.set_seed(None)
    assert order() != order()


@pytest.mark.parametrize("seed", [1.5, "1"])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(TypeError, match=r"set_seed: seed must be an integer or None"):
        random.set_seed(seed)
    with pytest.raises(TypeError, match=r"shuffle: seed must be an integer or None"):
        Dataset.range(3).shuffle(3, seed=seed)


def test_seeds_may_be_required(monkeypatch):
    monkeypatch.setattr(seeds._GLOBAL, "required", True)
    seeds.set_global_seed(None)
    with pytest.raises(RuntimeError, match=r"Random ops require a seed.*set_seed\(1\)"):
        seeds.check_global_seed()
    with pytest.raises(RuntimeError, match="require a seed"):
        seeds.op_entropy(None, "shuffle")
    assert seeds.op_entropy(3, "shuffle")
    seeds.set_global_seed(1)
    seeds.check_global_seed()
    assert seeds.op_entropy(None, "shuffle")
    seeds.set_global_seed(None)
