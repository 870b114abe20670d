"""The cluster that a program has connected to."""

import pytest

from frontends import tf
from frontends.tf.distribute import connection


def test_strategies_find_the_cluster(monkeypatch):
    joined = []

    class Remote:
        def join(self, jobs, source, *, is_chief):
            joined.append((jobs, source, is_chief))

    monkeypatch.setattr(connection, "remote_package", Remote)
    monkeypatch.setattr(connection, "_CONNECTED", [])
    assert connection.connected_cluster() is None
    spec = tf.train.ClusterSpec({"worker": ["a:1"]})
    connection.connect(spec)
    source = "the cluster that tf.config.experimental_connect_to_cluster was given"
    assert joined == [({"worker": ["a:1"]}, source, False)]
    assert connection.connected_cluster() is spec
    with pytest.raises(ValueError, match="at least one task of the job 'ps'"):
        tf.distribute.ParameterServerStrategy()  # it takes this cluster
