"""A coordinator's program: runs the scenarios of parameter servers with a worker and servers in other processes."""

import functools
import os
from typing import Any

from frontends import tf
from tests.golden.scenarios import parameter_servers


class _Cluster:
    """As the scenarios' own, over the tasks in TF_CONFIG."""

    @functools.cached_property
    def whole(self) -> Any:
        return self._coordinated(None)

    @functools.cached_property
    def divided(self) -> Any:
        partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
        return self._coordinated(partitioner)

    def _coordinated(self, partitioner: Any) -> Any:
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        strategy = tf.distribute.ParameterServerStrategy(resolver, partitioner)
        return strategy, tf.distribute.coordinator.ClusterCoordinator(strategy)
