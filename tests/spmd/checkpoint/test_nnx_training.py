"""Training with Flax NNX and Optax goes on bitwise equal, with dropout and batch statistics."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from spmd.checkpoint import Checkpoint, list_arrays


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 1, rngs=rngs)])
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        x = self.dropout(nnx.relu(self.norm(self.layers[0](x))))
        return self.layers[1](x)


class Training:
    def __init__(self, mesh, seed):
        self.model = Net(nnx.Rngs(seed))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-2), wrt=nnx.Param)
        self.metric = nnx.metrics.Average()
        self.step = spmd.Step(self.train, mesh)
        self.checkpoint = Checkpoint(
            model=self.model, optimizer=self.optimizer, metric=self.metric, count=0
        )

    def train(self, x, y):
        def loss(model):
            return jnp.mean((model(x) - y) ** 2) / spmd.topology.num_replicas(self.step.mesh)

        value, gradients = nnx.value_and_grad(loss)(self.model)
        self.optimizer.update(self.model, gradients)
        self.metric.update(values=value)

    def run(self, steps):
        rng = np.random.default_rng(self.checkpoint.count)
        mesh = self.step.mesh
        for _ in range(steps):
            x = rng.normal(size=(16, 4)).astype(np.float32)
            for batch in spmd.distribute((x, x[:, :1]), mesh, batch_size=16):
                self.step(*batch)
            self.checkpoint.count += 1

    def state(self):
        things = (self.model, self.optimizer, self.metric)
        return [jax.tree.map(_numbers, nnx.to_pure_dict(nnx.state(thing))) for thing in things]


def _numbers(leaf):
    is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if is_key else leaf)


@pytest.mark.parametrize("devices", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_the_continuation_is_bitwise_equal(tmp_path, mesh_of, devices):
    first = Training(mesh_of(devices), 0)
    first.run(3)
    path = first.checkpoint.save(tmp_path / "ckpt")
    saved = first.checkpoint.count
    rest = Training(mesh_of(devices), 1)
    rest.checkpoint.restore(path).assert_consumed()
    assert rest.checkpoint.count == saved == 3
    jax.tree.map(np.testing.assert_array_equal, rest.state(), first.state())
    first.run(3)
    rest.run(3)
    jax.tree.map(np.testing.assert_array_equal, rest.state(), first.state())


@pytest.mark.slow
def test_other_numbers_of_devices_get_the_same_state(tmp_path, mesh_of):
    trained = Training(mesh_of(4), 0)
    trained.run(1)
    expected = trained.state()
    for devices in (1, 2):
        path = trained.checkpoint.save(tmp_path / f"of-{devices}")
        trained = Training(mesh_of(devices), 5)
        trained.run(1)  # its state is on its own mesh by now
        trained.checkpoint.restore(path).assert_consumed()
        jax.tree.map(np.testing.assert_array_equal, trained.state(), expected)
        assert trained.model.layers[0].kernel.get_value().sharding.device_set == set(
            mesh_of(devices).devices.flat
        )


def test_arrays_have_the_names_of_attributes(tmp_path, mesh_of):
    training = Training(mesh_of(1), 0)
    path = training.checkpoint.save(tmp_path / "ckpt")
    training.checkpoint.wait()
    names = {entry.name for entry in list_arrays(path)}
    assert {
        "model/layers/0/kernel",
        "model/dropout/rngs/key",
        "optimizer/opt_state/0/count",
    } <= names
