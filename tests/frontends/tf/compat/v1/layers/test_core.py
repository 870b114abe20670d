"""Dense layers, dropout and flattening; numbers are in tests/golden/scenarios/layers.py."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1
X = np.ones((4, 50), np.float32)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


def test_dense_layers_take_steps():
    layer = v1.layers.Dense(3)
    assert layer(np.ones((2, 5, 4), np.float32)).shape == (2, 5, 3)
    assert layer(np.ones((2, 4), np.float32)).shape == (2, 3)
    with pytest.raises(
        ValueError, match="expected axis -1 of input shape to have value 4, found 5"
    ):
        layer(np.ones((2, 5), np.float32))


def test_dropout():
    assert v1.layers.dropout(X).tolist() == X.tolist()
    dropped = v1.layers.dropout(X, 0.25, training=True).numpy()
    assert set(np.unique(dropped).round(5)) == {0, np.float32(4 / 3).round(5)}
    assert 0.1 < (dropped == 0).mean() < 0.4
    rows = v1.layers.dropout(X, 0.5, noise_shape=[4, 1], training=True).numpy()
    assert all(len(set(row)) == 1 for row in rows)
    with pytest.raises(ValueError, match=r"`rate` must be a scalar in the range \[0, 1\)"):
        v1.layers.dropout(X, 1.5, training=True)


@pytest.mark.parametrize("seed", [None, 3])
def test_dropout_draws_anew_at_every_call_and_in_every_replica(seed):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    layer = v1.layers.Dropout(seed=seed)

    def drawn():
        tf.random.set_seed(7)
        results = [strategy.run(lambda: layer(X, training=True)).values for _ in range(2)]
        return [np.asarray(one).tolist() for values in results for one in values]

    first, again = drawn(), drawn()
    tf.random.set_seed(None)
    assert len(set(map(str, first))) == 4
    assert again == first


@pytest.mark.parametrize("training", [True, False])
def test_only_the_running_program_may_know_whether_it_trains(training):
    layer = v1.layers.Dropout()
    result = tf.function(lambda flag: layer(X, training=flag))(jnp.asarray(training))
    assert (np.asarray(result) == 0).any() == training


def test_flatten():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert v1.layers.flatten(x).tolist() == x.reshape(2, 12).tolist()
    assert v1.layers.flatten(x, data_format="channels_first")[0, :3].tolist() == [0, 4, 8]
    assert v1.layers.flatten(x[:0]).shape == (0, 12)
