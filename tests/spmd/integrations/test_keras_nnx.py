"""A Flax NNX module in a Keras model trains as it does in the engine's own loop."""

import keras
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from spmd.integrations.keras import distribute_model
from spmd.integrations.keras_nnx import NNXLayer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(32, 3)).astype(np.float32)
Y = (X @ [[1.0], [2.0], [3.0]]).astype(np.float32)


class Network(nnx.Module):
    def __init__(self, dropped=0.5):
        rngs = nnx.Rngs(0, dropout=1)
        # No bias where the normalization takes it out again: Adam would follow rounding errors.
        first = nnx.Linear(3, 5, use_bias=False, rngs=rngs)
        self.layers = nnx.List([first, nnx.Linear(5, 1, rngs=rngs)])
        self.norm = nnx.BatchNorm(5, momentum=0.9, rngs=rngs)
        self.dropout = nnx.Dropout(dropped, rngs=rngs)

    def __call__(self, x):
        mask = spmd.valid_rows()[:, None] if spmd.replica.in_replica() else None
        hidden = self.dropout(self.norm(self.layers[0](x), mask=mask))
        return self.layers[1](nnx.relu(hidden))


def compiled(*layers, mesh=None):
    model = keras.Sequential(list(layers))
    if mesh is not None:
        distribute_model(model, mesh)
    model.compile("adam", "mse")
    return model


def fitted(model, rows=32):
    options = {"batch_size": 8, "epochs": 2, "verbose": 0, "shuffle": False}
    return model.fit(X[:rows], Y[:rows], **options).history["loss"]


def by_hand(mesh, rows):
    """The losses of a loop without Keras, and the module after it."""
    module = Network()
    optimizer = nnx.Optimizer(module, optax.adam(1e-3, eps=1e-7), wrt=nnx.Param)

    def step(batch):
        x, y = batch
        module.train()
        loss, gradients = nnx.value_and_grad(
            lambda module: spmd.average_loss(((module(x) - y) ** 2)[:, 0])
        )(module)
        optimizer.update(module, gradients)
        return spmd.all_reduce(loss)

    train = spmd.Step(step, mesh)
    epochs = []
    for _ in range(2):
        batches = spmd.distribute((X[:rows], Y[:rows]), mesh, batch_size=8)
        losses = [float(train(batch)) for batch in batches]
        epochs.append(np.average(losses, weights=[8, 8, 8, rows - 24]))
    return epochs, module


def assert_alike(one, other):
    for left, right in zip(values(one), values(other), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


def values(module):
    return keras.tree.flatten(nnx.to_pure_dict(nnx.state(module, nnx.Not(nnx.RngKey))))


@pytest.mark.parametrize(
    ("replicas", "rows"),
    [
        (2, 29),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in [(1, 29), (1, 32), (2, 32)]),
    ],
)
def test_fit_gives_what_the_engines_own_loop_gives(mesh_of, replicas, rows):
    mesh = mesh_of(replicas)
    layer = NNXLayer(Network())
    losses = fitted(compiled(layer, mesh=mesh), rows)
    expected, module = by_hand(mesh, rows)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert_alike(layer.module, module)


def test_keras_alone_trains_it_too(mesh_of):
    one, other = NNXLayer(Network(dropped=0.0)), NNXLayer(Network(dropped=0.0))
    losses = fitted(compiled(one))
    np.testing.assert_allclose(losses, fitted(compiled(other, mesh=mesh_of(1))), rtol=1e-5)
    assert_alike(one.module, other.module)


@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_every_replica_drops_others_and_predictions_none(mesh_of, replicas):
    layer = NNXLayer(nnx.Dropout(0.5, rngs=nnx.Rngs(0)))
    step = spmd.Step(lambda x: layer(x, training=True), mesh_of(replicas))
    x = np.ones((16, 4), np.float32)
    [batch] = spmd.distribute(x, mesh_of(replicas), batch_size=16)
    first, second = (np.concatenate(spmd.step.local_values(step(batch))) for _ in range(2))
    assert not np.array_equal(first, second)
    assert replicas == 1 or not np.array_equal(first[:8], first[8:])
    np.testing.assert_array_equal(layer(x), x)


def test_weights_and_parameters_that_are_counted(capsys):
    model = compiled(keras.Input((3,)), NNXLayer(Network(), name="network"))
    assert [weight.name for weight in model.trainable_weights] == [
        "layers.0.kernel",
        "layers.1.bias",
        "layers.1.kernel",
        "norm.bias",
        "norm.scale",
    ]
    assert {"norm.mean", "norm.var"} < {weight.name for weight in model.non_trainable_weights}
    model.summary()
    assert "Trainable params: 31 " in capsys.readouterr().out


def test_freezing():
    layer = NNXLayer(Network())
    layer.trainable = False
    before = layer.module
    fitted(compiled(layer, keras.layers.Dense(1)))
    kernel, frozen = layer.module.layers[0].kernel, before.layers[0].kernel
    np.testing.assert_array_equal(kernel[...], frozen[...])


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, NumPy 2
def test_saved_weights(mesh_of, tmp_path):
    model = compiled(keras.Input((3,)), NNXLayer(Network()), mesh=mesh_of(2))
    fitted(model)
    path = tmp_path / "w.weights.h5"
    model.save_weights(path)
    other = compiled(keras.Input((3,)), NNXLayer(Network()), mesh=mesh_of(1))
    other.optimizer.build(other.trainable_variables)  # else Keras alone warns of its state
    other.load_weights(path)
    assert_alike(other.layers[0].module, model.layers[0].module)
    np.testing.assert_allclose(
        other.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-5, atol=1e-6
    )


@keras.saving.register_keras_serializable()
class Linear(NNXLayer):
    def __init__(self, size, **kwargs):
        super().__init__(nnx.Linear(3, size, rngs=nnx.Rngs(0)), **kwargs)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, NumPy 2
def test_a_saved_model_of_a_subclass(tmp_path):
    model = compiled(keras.Input((3,)), Linear(1))
    fitted(model)
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert fitted(loaded) == fitted(model)


def test_mixed_precision():
    layer = NNXLayer(nnx.Linear(3, 1, rngs=nnx.Rngs(0)), dtype="mixed_bfloat16")
    assert layer(X).dtype == "bfloat16"
    assert layer.module.kernel[...].dtype == "float32"


def test_other_things_than_modules_are_refused():
    with pytest.raises(TypeError, match=r"needs an nnx.Module.*FlaxLayer"):
        NNXLayer(keras.layers.Dense(1))


class Adding(nnx.Module):
    def __call__(self, x):
        self.seen = nnx.Intermediate(x)
        return x


def test_variables_that_a_call_adds_are_refused():
    with pytest.raises(ValueError, match=r"added or took away the variables \['seen"):
        NNXLayer(Adding())(X)
