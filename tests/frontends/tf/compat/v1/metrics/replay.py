"""Runs the cases in replicas of a strategy, and compares with what TensorFlow 2.21 recorded (`record.py`)."""

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from frontends import tf
from frontends.tf.graph import Graph, VariableStore
from tests.frontends.tf.compat.v1.metrics.cases import BATCHES, CASES, ROWS

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded.json").read_text())

# Their updates are not like their values.
UPDATES_OF_CLASSES = ("mean_per_class_accuracy", "mean_iou")


def check(names: Iterable[str], replicas: int, weighted: bool) -> None:
    """Runs cases batch by batch, and compares updates, values and variables."""
    stores = {name: VariableStore() for name in names}
    computes: dict[str, Any] = {}
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])

    def replica(batch: dict[str, Any]) -> dict[str, Any]:
        results = {}
        weights = {"weights": batch["weights"]} if weighted else {}
        for name, store in stores.items():
            with Graph(store).as_default() as graph:
                value, update = CASES[name](tf.compat.v1.metrics, batch, weights)
                graph.run(update)
                computes[name] = functools.partial(graph.value_of, value)
            results[name] = value, update
        return results

    data = tf.data.Dataset.from_tensor_slices(
        {name: np.concatenate([one[name] for one in BATCHES]) for name in BATCHES[0]}
    ).batch(ROWS)
    steps = [
        strategy.run(replica, args=(batch,))
        for batch in strategy.experimental_distribute_dataset(data)
    ]
    for name, store in stores.items():
        expected = RECORDED[name][f"{replicas}, {'weighted' if weighted else 'alike'}"]
        updates = [strategy.experimental_local_results(step[name][1]) for step in steps]
        np.testing.assert_allclose(updates, expected["updates"], atol=2e-6, err_msg=name)
        final = computes[name]()
        np.testing.assert_allclose(final, expected["value"], atol=2e-6, err_msg=name)
        # In a step, the value is that of the batches before.
        values = strategy.experimental_local_results(steps[-1][name][0])
        for value in values:
            np.testing.assert_array_equal(value, values[0], err_msg=name)
        if replicas == 1 and name not in UPDATES_OF_CLASSES:
            np.testing.assert_allclose(values, expected["updates"][0], atol=2e-6, err_msg=name)
        if replicas == 1:
            variables = [[one.name, list(one.shape)] for one in store.variables.values()]
            assert variables == RECORDED[name]["variables"]
