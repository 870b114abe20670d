"""`tf.data.Options`: accepted, merged, and refused where misspelt."""

import pytest

from frontends.tf.data import Options
from frontends.tf.data.experimental import AutoShardPolicy


def test_defaults_say_nothing():
    options = Options()
    assert options.deterministic is None
    assert options.experimental_distribute.auto_shard_policy is None


def test_misspelt_options_are_refused():
    options = Options()
    with pytest.raises(AttributeError, match="determinstic"):
        options.determinstic = True  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="policy"):
        options.experimental_distribute.policy = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_tensorflows_options_are_accepted():
    options = Options()
    options.threading.private_threadpool_size = 4
    options.autotune.enabled = True
    options.experimental_optimization.map_parallelization = True
    options.experimental_deterministic = False


def test_merge():
    first, second = Options(deterministic=True, dataset_name="a"), Options(dataset_name="b")
    first.experimental_distribute.auto_shard_policy = AutoShardPolicy.FILE
    merged = first.merge(second)
    assert (merged.deterministic, merged.dataset_name) == (True, "b")
    assert merged.experimental_distribute.auto_shard_policy is AutoShardPolicy.FILE
    merged.experimental_distribute.num_devices = 3
    assert first.experimental_distribute.num_devices is None


def test_policies_have_tensorflows_numbers():
    assert {policy.name: policy.value for policy in AutoShardPolicy} == {
        "OFF": -1, "AUTO": 0, "FILE": 1, "DATA": 2, "HINT": 3,
    }  # fmt: skip
