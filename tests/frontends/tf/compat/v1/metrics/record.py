"""Records what TensorFlow's metrics compute: `python -m tests.frontends.tf.compat.v1.metrics.record` where it is installed."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tests.frontends.tf.compat.v1.metrics.cases import BATCHES, CASES, ON_ONE_REPLICA, ROWS

DATA = Path(__file__).with_name("recorded.json")


def main() -> None:
    """Runs each case on one and on two replicas, without weights and with them, and writes the results."""
    os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    lines = []
    for name in CASES:
        found: dict[str, Any] = {}
        for replicas in (1,) if name in ON_ONE_REPLICA else (1, 2):
            for weighted in (False, True):
                results, variables = _run(tf, name, replicas, weighted)
                found.setdefault("variables", variables)
                found[f"{replicas}, {'weighted' if weighted else 'alike'}"] = results
        lines.append(f"  {json.dumps(name)}: {json.dumps(found)}")
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _run(tf: Any, name: str, replicas: int, weighted: bool) -> tuple[Any, Any]:
    """Returns each batch's updates, by replica, and the value after all; and the names and shapes of the variables."""
    v1, rows = tf.compat.v1, ROWS // replicas
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])
        which = v1.placeholder(tf.int32, [])

        def replica() -> Any:
            first = tf.distribute.get_replica_context().replica_id_in_sync_group * rows
            batch = {}
            for key in BATCHES[0]:
                stacked = np.stack([one[key] for one in BATCHES])
                block = tf.gather(tf.constant(stacked), which)[first : first + rows]
                block.set_shape([rows, *stacked.shape[2:]])
                batch[key] = block
            weights = {"weights": batch["weights"]} if weighted else {}
            return CASES[name](v1.metrics, batch, weights)

        with strategy.scope():
            value, update = map(strategy.experimental_local_results, strategy.run(replica))
        with v1.Session() as session:
            session.run(v1.local_variables_initializer())
            updates = [session.run(update, {which: index}) for index in range(len(BATCHES))]
            result = {"updates": updates, "value": session.run(value[0])}
        variables = [[one.name, one.shape.as_list()] for one in v1.local_variables()]
    return tf.nest.map_structure(
        lambda one: np.round(np.float64(one), 6).tolist(), result
    ), variables


if __name__ == "__main__":
    main()
