"""Training on a GPU against the same training on a processor."""

import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from frontends import tf
from spmd.input import DeviceMap
from tests.benchmarks.programs.weights import same_weights

GPU, CPU = ["GPU:0"], ["CPU:0"]


def convolutional():
    layers = tf.keras.layers
    x = inputs = tf.keras.Input((12, 12, 3))
    x = layers.Conv2D(8, 3, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.MaxPooling2D()(layers.DepthwiseConv2D(3, padding="same")(x))
    x = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(x)
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalAveragePooling2D()(x)))


def transformer():
    layers = tf.keras.layers
    inputs = tf.keras.Input((10,), dtype="int32")
    x = layers.Embedding(50, 16, mask_zero=True)(inputs)
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 8)(y, y)])
    x = layers.Dense(16, activation="gelu")(layers.LayerNormalization()(x))
    return tf.keras.Model(inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x)))


def recurrent(layer):
    layers = tf.keras.layers
    inputs = tf.keras.Input((10,), dtype="int32")
    x = layers.Embedding(50, 16, mask_zero=True)(inputs)
    x = layers.Bidirectional(getattr(layers, layer)(8))(x)
    return tf.keras.Model(inputs, layers.Dense(4)(x))


MODELS = {
    "convolutional": convolutional,
    "transformer": transformer,
    "LSTM": lambda: recurrent("LSTM"),
    "GRU": lambda: recurrent("GRU"),
}
OPTIMIZERS = {"convolutional": "Adam", "transformer": "AdamW", "LSTM": "Adagrad", "GRU": "RMSprop"}


def rows_of(model, rows):
    generator = np.random.default_rng(1)
    shape = (rows, *model.inputs[0].shape[1:])
    x = generator.integers(0, 50, shape) if len(shape) == 2 else generator.normal(size=shape)
    return x.astype(model.inputs[0].dtype), generator.integers(0, 4, rows).astype(np.int32)


def train_by_hand(name, devices):
    """Losses of a custom loop whose last batch is partial, and the weights after it."""
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        model = MODELS[name]()
        same_weights(model)
        optimizer = getattr(tf.keras.optimizers, OPTIMIZERS[name])(0.01)
        losses = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    dataset = tf.data.Dataset.from_tensor_slices(rows_of(model, 44)).batch(16)

    def step(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(losses(y, model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train(inputs):
        return strategy.reduce("SUM", strategy.run(step, args=(inputs,)), axis=None)

    found = [
        float(train(batch))
        for _ in range(3)
        for batch in strategy.experimental_distribute_dataset(dataset)
    ]
    return found, [np.asarray(value) for value in model.get_weights()]


@pytest.mark.parametrize("name", MODELS)
def test_a_custom_loop_computes_what_it_does_on_a_processor(name, full_precision):
    (losses, weights), (expected, expected_weights) = (
        train_by_hand(name, devices) for devices in (GPU, CPU)
    )
    np.testing.assert_allclose(losses, expected, rtol=2e-4)
    for ours, theirs in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=5e-4)


@pytest.mark.parametrize("name", MODELS)
def test_fit_computes_what_it_does_on_a_processor(name, full_precision):
    def fit(devices):
        with tf.distribute.MirroredStrategy(devices).scope():
            model = MODELS[name]()
            same_weights(model)
            model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        x, y = rows_of(model, 44)
        history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history
        return history["loss"], model.predict(x, verbose=0)

    (losses, scores), (expected, expected_scores) = fit(GPU), fit(CPU)
    np.testing.assert_allclose(losses, expected, rtol=2e-4)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_learns(policy):
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        with tf.distribute.MirroredStrategy().scope():
            model = convolutional()
            model.compile(
                tf.keras.optimizers.Adam(0.01),
                tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                metrics=["accuracy"],
            )
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    x, y = rows_of(model, 64)
    x += y[:, None, None, None]
    found = model.fit(x, y, batch_size=16, epochs=25, verbose=0).history
    assert all(np.isfinite(found["loss"]))
    assert found["accuracy"][-1] > 0.8


def test_what_runs_on_the_host_runs_within_a_step(capfd):
    strategy, seen = tf.distribute.MirroredStrategy(), []

    @tf.function
    def run(limit):
        def replica():
            total = tf.constant(0)
            while total < limit:
                if total % 2 == 0:
                    total += 1
                else:
                    total += 2
            tf.print("total", total)
            found = tf.py_function(lambda x: seen.append(int(x)) or x * 10, [total], tf.int32)
            return tf.ensure_shape(found, [])

        return strategy.run(replica)

    values = strategy.experimental_local_results(run(tf.constant(6)))
    assert int(values[0]) == 70
    assert seen == [7] * strategy.num_replicas_in_sync
    captured = capfd.readouterr()
    assert "total 7" in captured.out + captured.err


def test_flax_and_several_steps_a_call(full_precision):
    found = []
    for devices in (GPU, CPU):
        strategy = tf.distribute.MirroredStrategy(devices)
        with strategy.scope():
            model = nnx.Linear(6, 1, rngs=nnx.Rngs(0))
            optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)

        def step(x, model=model, optimizer=optimizer):
            def loss_of(model):
                return tf.nn.compute_average_loss((model(x)[:, 0] - x.sum(1)) ** 2)

            loss, gradients = nnx.value_and_grad(loss_of)(model)
            optimizer.update(model, gradients)
            return loss

        x = np.random.default_rng(0).normal(size=(80, 6)).astype(np.float32)
        dataset = strategy.experimental_distribute_dataset(
            tf.data.Dataset.from_tensor_slices(x).batch(8)
        )

        @tf.function
        def train(batch, strategy=strategy, step=step):
            return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

        losses = strategy.run_steps(train, iter(dataset), 10)
        found.append(np.asarray(losses))
    assert found[0][-1] < found[0][0]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


def test_batches_are_mapped_on_the_device(monkeypatch):
    mapped, call = [], DeviceMap.__call__

    def spy(self, batch):
        result = call(self, batch)
        mapped.append((batch.dtype, result.dtype))
        return result

    monkeypatch.setattr(DeviceMap, "__call__", spy)
    strategy = tf.distribute.MirroredStrategy(GPU)
    pixels = np.random.default_rng(0).integers(0, 256, (64, 8, 8, 1)).astype(np.uint8)
    dataset = tf.data.Dataset.from_tensor_slices(pixels)
    dataset = dataset.map(lambda image: tf.cast(image, tf.float32) / 255).shuffle(64).batch(16)
    total = spmd.Variable(np.zeros(1000, np.float32), name="total")

    @tf.function
    def add(batch):
        def replica(x):
            total.value += tf.reduce_sum(x)

        strategy.run(replica, args=(batch,))

    for batch in strategy.experimental_distribute_dataset(dataset):
        add(batch)
    assert mapped == [(np.uint8, np.float32)] * 4
    np.testing.assert_allclose(total.value, np.full(1000, pixels.sum() / 255), rtol=1e-5)


def test_state_stays_where_it_is():
    strategy = tf.distribute.MirroredStrategy(GPU)
    total = spmd.Variable(np.zeros(1000, np.float32), name="total")

    @tf.function
    def add():
        def replica():
            total.value += 1

        strategy.run(replica)

    add()
    place = total.value.unsafe_buffer_pointer()  # no reference: the array of a held one is copied
    for _ in range(3):
        add()
    assert total.value.unsafe_buffer_pointer() == place
    assert {one.platform for one in total.value.devices()} == {"gpu"}
