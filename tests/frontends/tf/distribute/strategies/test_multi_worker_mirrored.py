"""Both signatures of `MultiWorkerMirroredStrategy`, without a cluster; tests/multiprocess has clusters."""

import pytest

from frontends import tf
from frontends.tf.distribute import connection

LIBRARY = tf.distribute.experimental.CollectiveCommunication


@pytest.mark.parametrize(
    "experimental", [tf.distribute.experimental, tf.compat.v1.distribute.experimental]
)
def test_the_experimental_one_takes_the_library_of_collectives_first(experimental) -> None:
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    made = [
        experimental.MultiWorkerMirroredStrategy(),
        experimental.MultiWorkerMirroredStrategy(LIBRARY.RING),
        experimental.MultiWorkerMirroredStrategy(communication=LIBRARY.NCCL),
        experimental.MultiWorkerMirroredStrategy(LIBRARY.AUTO, resolver),
    ]
    assert all(isinstance(one, tf.distribute.MultiWorkerMirroredStrategy) for one in made)
    assert made[-1].cluster_resolver is resolver
    totals = [
        float(one.reduce("SUM", one.run(lambda: tf.constant(2.0)), axis=None)) for one in made
    ]
    assert totals == [2.0 * one.num_replicas_in_sync for one in made]


def test_a_resolver_in_the_place_of_the_library_is_an_error() -> None:
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    with pytest.raises(TypeError, match="A cluster resolver is the second argument"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy(resolver)


def test_a_connected_program_gets_the_strategy_of_its_cluster(monkeypatch) -> None:
    class Elsewhere(tf.distribute.MultiWorkerMirroredStrategy):
        def __init__(self, cluster_resolver=None) -> None:
            self.resolver = cluster_resolver

    monkeypatch.setattr(connection, "_CONNECTED", ["a cluster"])
    monkeypatch.setattr(connection, "_STRATEGY", [Elsewhere])
    made = tf.distribute.experimental.MultiWorkerMirroredStrategy(LIBRARY.AUTO, "a resolver")
    assert type(made) is Elsewhere
    assert made.resolver == "a resolver"
