"""The network of TensorFlow's distributed training tutorial, as its users write it."""

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.training import mirrored
from tests.benchmarks.programs.weights import initial, same_weights
from tests.benchmarks.turns import Ready

BATCH, STEPS = 128, 60


def layers_of(keras: Any) -> list[Any]:
    """The network's layers."""
    return [
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]


def loop(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A custom loop under MirroredStrategy."""
    strategy = mirrored(tf, devices)
    images, labels = digits.scaled(path, BATCH * STEPS)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10_000)
    return custom_loop(tf, strategy, dataset.batch(BATCH), layers_of(tf.keras), images, labels)


def workers(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A custom loop under MultiWorkerMirroredStrategy, on one device of each process."""
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    images, labels = digits.scaled(path, BATCH * STEPS)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10_000, seed=0)
    sharding = tf.data.Options()
    sharding.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = dataset.batch(BATCH).with_options(sharding)
    return custom_loop(tf, strategy, dataset, layers_of(tf.keras), images, labels)


def custom_loop(
    tf: Any, strategy: Any, dataset: Any, layers: list[Any], images: Any, labels: Any
) -> tuple[Ready, Callable[[], None]]:
    """TensorFlow's tutorial on custom training."""
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input(images.shape[1:]), *layers])
        optimizer = tf.keras.optimizers.Adam(1e-3)
        losses = tf.keras.losses.SparseCategoricalCrossentropy(reduction="none")
        same_weights(model)

    def train_step(inputs: Any) -> Any:
        x, y = inputs
        with tf.GradientTape() as tape:
            each = losses(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(each, global_batch_size=rows)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train(inputs: Any) -> Any:
        return strategy.reduce(
            tf.distribute.ReduceOp.SUM, strategy.run(train_step, args=(inputs,)), axis=None
        )

    batches = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))
    rows = len(images) // STEPS
    first = tf.data.Dataset.from_tensor_slices((images[:rows], labels[:rows])).batch(rows)
    for batch in strategy.experimental_distribute_dataset(first.repeat(3)):
        check = float(train(batch))

    def turn() -> None:
        for batch in batches:
            loss = train(batch)
        float(loss)

    turn()
    return Ready(STEPS, check), turn


def fit(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Model.fit under MirroredStrategy."""
    strategy = mirrored(tf, devices)
    with strategy.scope():
        model = _compiled(tf.keras)
    images, labels = digits.scaled(path, BATCH * STEPS)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10_000)
    return _fit(model, images, labels, dataset.batch(BATCH).prefetch(tf.data.AUTOTUNE))


def keras_alone(tf: None, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """Keras's own fit on JAX, which shuffles arrays by itself."""
    os.environ |= {"KERAS_BACKEND": "jax"}
    import spmd

    if devices:  # sets JAX's options, and the thread pool that several devices need
        spmd.simulate_devices(devices)
    import keras

    if devices > 1:
        keras.distribution.set_distribution(keras.distribution.DataParallel())
    images, labels = digits.scaled(path, BATCH * STEPS)
    return _fit(_compiled(keras), images, labels, None)


def _compiled(keras: Any) -> Any:
    model = keras.Sequential([keras.Input((28, 28, 1)), *layers_of(keras)])
    loss = keras.losses.SparseCategoricalCrossentropy()
    model.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
    same_weights(model)
    return model


def _fit(model: Any, images: Any, labels: Any, dataset: Any) -> tuple[Ready, Callable[[], None]]:
    first = {"x": images[:BATCH], "y": labels[:BATCH], "batch_size": BATCH, "verbose": 0}
    check = model.fit(**first, epochs=3, shuffle=False).history["loss"][-1]
    if dataset is None:
        data = {"x": images, "y": labels, "batch_size": BATCH, "shuffle": True}
    else:
        data = {"x": dataset}

    def turn() -> None:
        model.fit(**data, verbose=0)

    turn()
    return Ready(STEPS, float(check)), turn


def by_hand(tf: None, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The custom loop as an expert writes it for JAX: `jit(shard_map)` over a flat list of arrays."""
    import spmd

    if devices:
        spmd.simulate_devices(devices)
    import jax
    import jax.numpy as jnp
    import optax
    from jax.extend.core import jaxpr_as_fun
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    from spmd.lowering import lowered

    count = max(devices, 1)
    mesh = jax.make_mesh(
        (count,), ("data",), (jax.sharding.AxisType.Auto,), devices=jax.devices()[:count]
    )
    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    images, labels = digits.scaled(path, BATCH * STEPS)

    def predict(weights: Any, x: Any) -> Any:
        kernel, bias, dense, dense_bias, last, last_bias = weights
        layout = ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=layout)
        x = jax.nn.relu(x + bias)
        window = (1, 2, 2, 1)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")
        x = jax.nn.relu(x.reshape(len(x), -1) @ dense + dense_bias)
        return x @ last + last_bias

    shapes = [(3, 3, 1, 32), (32,), (13 * 13 * 32, 64), (64,), (64, 10), (10,)]
    generator = np.random.default_rng(0)
    weights = [jnp.asarray(initial(generator, shape)) for shape in shapes]
    optimizer = optax.adam(1e-3, eps=1e-7)
    state, structure = jax.tree.flatten((weights, optimizer.init(weights)))
    held = [jax.device_put(state, whole)]

    def step(state: Any, x: Any, y: Any) -> Any:
        weights, moments = jax.tree.unflatten(structure, state)

        def loss_of(weights: Any) -> Any:
            each = optax.softmax_cross_entropy_with_integer_labels(predict(weights, x), y)
            return each.sum() / BATCH

        loss, gradients = jax.lax.psum(jax.value_and_grad(loss_of)(weights), "data")
        updates, moments = optimizer.update(gradients, moments, weights)
        return jax.tree.leaves((optax.apply_updates(weights, updates), moments)), loss

    specs = {"in_specs": (P(), P("data"), P("data")), "out_specs": (P(), P())}
    mapped = jax.shard_map(step, mesh=mesh, check_vma=False, **specs)
    batch = images[:BATCH], labels[:BATCH]
    # The same better code for convolutions and pooling as ours.
    program, shapes = jax.make_jaxpr(mapped, return_shape=True)(held[0], *batch)
    call = jaxpr_as_fun(lowered(program, mesh.devices.flat[0].platform))
    structure_out = jax.tree.structure(shapes)

    @functools.partial(jax.jit, donate_argnums=0)
    def compiled(state: Any, x: Any, y: Any) -> Any:
        return jax.tree.unflatten(structure_out, call(*state, x, y))

    def train(chosen: Any) -> Any:
        held[0], loss = compiled(held[0], *jax.device_put((images[chosen], labels[chosen]), rows))
        return loss

    for _ in range(3):
        check = float(train(slice(BATCH)))

    def turn() -> None:
        order = generator.permutation(len(labels))
        for start in range(0, len(labels), BATCH):
            loss = train(order[start : start + BATCH])
        float(loss)

    turn()
    return Ready(STEPS, check), turn
