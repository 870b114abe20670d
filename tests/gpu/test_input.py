"""What comes to a GPU, and what stays on the host."""

import numpy as np

import spmd
from frontends import tf
from spmd.input.placement import BatchPlacer

TEXTS = ["good film", "bad film", "so good", "so bad"] * 8


def test_texts_stay_on_the_host():
    strategy = tf.distribute.MirroredStrategy()
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, np.arange(32))).batch(16)
    seen = []
    for texts, numbers in strategy.experimental_distribute_dataset(dataset):
        for replica in strategy.experimental_local_results(texts):
            seen.extend(map(str, np.asarray(replica)))
        assert isinstance(numbers, spmd.PerReplica)
        assert {one.platform for one in numbers.array.devices()} == {"gpu"}
    assert seen == TEXTS


def test_a_batch_for_one_step_goes_to_its_program_from_the_host():
    mesh = tf.distribute.OneDeviceStrategy("/gpu:0").mesh
    batch = BatchPlacer(mesh, None, for_one_step=True).place(np.arange(4.0), x64=False)
    assert batch.host is not None
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
    assert [float(step(batch)) for _ in range(2)] == [6, 6]


def test_fit_takes_texts():
    vectorize = tf.keras.layers.TextVectorization(max_tokens=10, output_sequence_length=2)
    vectorize.adapt(TEXTS)
    layers = tf.keras.layers
    with tf.distribute.MirroredStrategy().scope():
        model = tf.keras.Sequential(
            [vectorize, layers.Embedding(10, 8), layers.Flatten(), layers.Dense(1)]
        )
        loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.Adam(0.1), loss, metrics=["accuracy"])
    labels = np.array([["good" in text] for text in TEXTS], float)
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(8)
    assert model.fit(dataset, epochs=20, verbose=0).history["accuracy"][-1] == 1


def test_fit_takes_batches_that_are_on_the_device_already():
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    x = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(16)
    distributed = strategy.experimental_distribute_dataset(dataset)
    first, last = model.fit(distributed, epochs=8, verbose=0).history["loss"][::7]
    assert last < 0.2 * first
