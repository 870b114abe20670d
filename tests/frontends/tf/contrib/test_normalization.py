"""Batches and rows that are normalized."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

layers = tf.contrib.layers
X = np.sin(np.arange(24)).reshape(4, 3, 2).astype(np.float32)


@pytest.mark.parametrize("collection", [tf.GraphKeys.UPDATE_OPS, "mine", None])
def test_where_averages_move(collection):
    with Graph().as_default() as graph:
        y = layers.batch_norm(
            X, decay=0.5, scale=True, updates_collections=collection, variables_collections=["all"]
        )
        mean, variance = X.mean((0, 1)), X.var((0, 1))
        np.testing.assert_allclose(y, (X - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
        names = [one.name for one in tf.get_collection("all")]
        expected = ("gamma", "beta", "moving_mean", "moving_variance")
        assert sorted(names) == sorted(f"BatchNorm/{name}:0" for name in expected)
        assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * (collection == "update_ops")
        if collection is not None:
            graph.run(tf.get_collection(collection))
        moved = graph.store.variables["BatchNorm/moving_mean"].value()
        np.testing.assert_allclose(moved, mean / 2, rtol=1e-4, atol=1e-6)
    with pytest.raises(NotImplementedError, match="Leave these out"):
        layers.batch_norm(X, zero_debias_moving_mean=True)


@pytest.mark.parametrize("begin", [1, -1])
def test_rows(begin):
    with Graph().as_default():
        y = layers.layer_norm(X, begin_norm_axis=begin, activation_fn=tf.nn.relu, scope="norm")
        axes = (1, 2) if begin == 1 else (2,)
        mean, variance = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
        expected = np.maximum((X - mean) / np.sqrt(variance + 1e-12), 0)
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-5)
        shapes = {one.name: one.shape for one in tf.trainable_variables()}
        assert shapes == {"norm/beta:0": (2,), "norm/gamma:0": (2,)}
        with pytest.raises(ValueError, match="must be < rank"):
            layers.layer_norm(X, begin_norm_axis=3)
