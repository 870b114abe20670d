"""SimpleClusterResolver: what it refuses, with the line that fixes it. Its results stand in tests/golden."""

import pytest

from frontends import tf

SimpleClusterResolver = tf.distribute.cluster_resolver.SimpleClusterResolver


def test_a_dict_is_no_cluster_spec():
    with pytest.raises(TypeError, match=r"Write SimpleClusterResolver\(tf.train.ClusterSpec\("):
        SimpleClusterResolver({"worker": ["a:1"]})


def test_master_is_text():
    with pytest.raises(TypeError, match="master must be a string, but it is 3"):
        SimpleClusterResolver(tf.train.ClusterSpec({}), master=3)
