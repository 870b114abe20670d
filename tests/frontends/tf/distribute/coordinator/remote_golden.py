"""A coordinator's program: runs the scenarios of parameter servers with a worker and servers in other processes."""

import functools
import json
from typing import Any

from frontends import tf
from tests.golden.encoding import encode, outcome
from tests.golden.scenarios import SCENARIOS, Setting, parameter_servers


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


def main() -> None:
    """Prints the results of all cases in JSON, as recordings have them."""
    cluster = _Cluster()
    parameter_servers._cluster = lambda tf: cluster  # pyright: ignore[reportPrivateUsage]
    found: dict[str, dict[str, Any]] = {}
    for one in SCENARIOS.values():
        if one.group == parameter_servers.GROUP:
            cases = one.cases(Setting(tf, "none"))
            found[f"{one.name}@none"] = {name: encode(outcome(case), tf) for name, case in cases}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
