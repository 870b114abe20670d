"""UnionResolver: its former name, and what it refuses. Its results stand in tests/golden."""

import pytest

from frontends import tf

module = tf.distribute.cluster_resolver


def simple(cluster):
    return module.SimpleClusterResolver(tf.train.ClusterSpec(cluster))


def test_the_former_name():
    assert module.UnionClusterResolver is module.UnionResolver


def test_tensorflows_example_of_an_override(monkeypatch):
    monkeypatch.setenv(
        "TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}'
    )
    of_variable = module.TFConfigClusterResolver()
    override = module.SimpleClusterResolver(of_variable.cluster_spec(), num_accelerators={"GPU": 1})
    union = module.UnionResolver(override)
    assert union.num_accelerators() == {"GPU": 1}


def test_a_conflict_names_both_addresses():
    union = module.UnionResolver(simple({"worker": {1: "a:1"}}), simple({"worker": {1: "b:1"}}))
    with pytest.raises(KeyError, match="worker 1: a:1 and b:1"):
        union.cluster_spec()


def test_what_is_no_resolver():
    with pytest.raises(TypeError, match="one is ClusterSpec"):
        module.UnionResolver(tf.train.ClusterSpec({}))
    with pytest.raises(ValueError, match="at least one ClusterResolver"):
        module.UnionResolver()


def test_the_environment_is_the_first_resolvers_at_each_access():
    class Resolver(module.SimpleClusterResolver):
        environment = property(lambda self: self.where)

    first = Resolver(tf.train.ClusterSpec({}))
    union = module.UnionResolver(first)
    first.where = "here"
    assert union.environment == "here"
    first.where = "there"
    assert union.environment == "there"
    with pytest.raises(AttributeError):
        union.environment = "elsewhere"
