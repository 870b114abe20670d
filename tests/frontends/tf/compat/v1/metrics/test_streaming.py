"""How metrics keep their state: in a model function, in replicas, with padding, and elsewhere."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph, VariableStore

v1 = tf.compat.v1
metrics = v1.metrics


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def test_the_state_changes_only_if_the_update_is_fetched():
    with Graph().as_default() as graph:
        value, update = metrics.mean([1.0, 3.0])
        other, _ = metrics.mean([7.0])
        assert float(update) == 2
        assert graph.value_of(value) == 0
        graph.run({"a": update, "b": [update]})
        assert (float(graph.value_of(value)), float(graph.value_of(other))) == (2, 0)
        assert float(value) == 0  # of the batches before
        graph.run(update)
        assert graph.store.variables["mean/count"].numpy() == 4


def test_collections_and_names():
    with Graph().as_default() as graph:
        value, update = metrics.accuracy([1], [1], None, ["values"], ["updates"])
        with v1.variable_scope("eval", reuse=True):
            metrics.accuracy([1], [1])
        metrics.accuracy([1], [1], name="accuracy")
        assert v1.get_collection("values") == [value]
        assert v1.get_collection("updates") == [update]
        names = ["accuracy", "eval/accuracy", "accuracy_1"]
        expected = [f"{name}/{each}:0" for name in names for each in ("total", "count")]
        assert [one.name for one in v1.local_variables()] == expected
        assert [one.name for one in v1.get_collection(v1.GraphKeys.METRIC_VARIABLES)] == expected
        assert not v1.global_variables()
        assert not v1.trainable_variables()
        assert not graph.store.saved()


def test_another_graph_of_the_store_goes_on():
    store = VariableStore()
    for _ in range(3):
        with Graph(store).as_default() as graph:
            value, update = metrics.mean([1.0, 2.0], weights=[1.0, 0.5])
            graph.run(update)
    assert store.variables["mean/count"].numpy() == 4.5
    np.testing.assert_allclose(graph.value_of(value), 4 / 3, rtol=1e-6)


def test_outside_of_a_model_function_both_are_of_the_batch():
    before = len(v1.local_variables())
    for _ in range(2):
        value, update = metrics.precision([1, 0, 1], [1, 1, 1])
        np.testing.assert_allclose([value, update], [2 / 3, 2 / 3], rtol=1e-6)
    assert len(v1.local_variables()) == before


def test_in_a_custom_loop_the_value_is_that_of_all_replicas():
    strategy = mirrored()
    data = tf.data.Dataset.from_tensor_slices(np.float32([1, 2, 3, 6])).batch(4)
    (batch,) = strategy.experimental_distribute_dataset(data)
    value, update = strategy.run(lambda batch: metrics.mean(batch), args=(batch,))
    assert [float(one) for one in value.values] == [3, 3]
    assert [float(one) for one in update.values] == [1.5, 4.5]


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("rows", [7, 5])
def test_padding_counts_for_nothing(rows, eagerly):
    strategy, store, values, traced = mirrored(), VariableStore(), {}, set()
    labels, guesses = np.arange(8 + rows) % 3, np.arange(8 + rows) % 2
    scores = np.random.default_rng(0).random((8 + rows, 3)).astype(np.float32)

    def calls(labels, guesses, scores):
        return {
            "accuracy": metrics.accuracy(labels, guesses),
            "mean": metrics.mean(scores),
            "precision": metrics.precision(labels, guesses),
            "auc": metrics.auc(guesses, scores[:, 0], num_thresholds=10),
            "iou": metrics.mean_iou(labels, guesses, 3),
            "recall": metrics.recall_at_k(labels, scores, 2),
            "ranks": metrics.average_precision_at_k(labels, scores, 2),
        }

    def replica(labels, guesses, scores):
        traced.add(len(labels))
        with Graph(store).as_default() as graph:
            pairs = calls(labels, guesses, scores)
            graph.run([update for _, update in pairs.values()])
            values.update({name: (graph, value) for name, (value, _) in pairs.items()})

    data = tf.data.Dataset.from_tensor_slices((labels, guesses, scores)).batch(8)
    tf.config.run_functions_eagerly(eagerly)
    try:
        for batch in strategy.experimental_distribute_dataset(data):
            strategy.run(replica, args=batch)
    finally:
        tf.config.run_functions_eagerly(False)
    for name, (expected, _) in calls(labels, guesses, scores).items():
        graph, value = values[name]
        np.testing.assert_allclose(graph.value_of(value), expected, rtol=1e-5, err_msg=name)
    if not eagerly:
        assert min(traced) == 4  # there is no other program for fewer rows


@pytest.mark.parametrize("is_fetched", [False, True])
def test_a_value_that_nobody_fetches_costs_no_collective(is_fetched):
    strategy, store = mirrored(), VariableStore()

    @tf.function
    def step():
        def replica():
            with Graph(store).as_default() as graph:
                value, update = metrics.mean([1.0, 2.0])
                graph.run(update)
            return value if is_fetched else update

        return strategy.run(replica)

    step()
    step()
    assert store.variables["mean/total"].numpy() == 12
    assert ("all-reduce" in step.get_concrete_function().hlo) == is_fetched
