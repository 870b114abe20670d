"""A training under a strategy, by hand and by `fit`, wherever its replicas are."""

from typing import Any

import numpy as np

from frontends import tf

keras = tf.keras


def data() -> Any:
    """Makes a dataset whose last batch is partial: 27 rows in batches of 8."""
    x = np.random.default_rng(0).normal(size=(27, 5)).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(27, seed=1).batch(8)


def train(strategy: tf.distribute.Strategy) -> dict[str, Any]:
    """Trains two models, whose variables are made by the first step.

    Returns:
        Losses and the like, in JSON's types.
    """
    keras.utils.set_random_seed(3)
    dataset = data()
    with strategy.scope():
        layers = [keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        optimizer = keras.optimizers.Adam(0.05)
        mean = keras.metrics.Mean("mean")

    def replica(x, y):
        with tf.GradientTape() as tape:
            losses = keras.losses.binary_crossentropy(y, model(x), from_logits=True)
            loss = tf.nn.compute_average_loss(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean.update_state(losses)
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica, args=batch), axis=None)

    distributed = strategy.experimental_distribute_dataset(dataset)
    found: dict[str, Any] = {"loop": [float(step(batch)) for batch in distributed]}
    found["mean"] = float(mean.result())
    found["iterations"] = int(optimizer.iterations.numpy())

    found["slots"] = train_weight(strategy)

    with strategy.scope():
        fitted = keras.Sequential(
            [
                keras.layers.Dense(4, activation="relu"),
                keras.layers.BatchNormalization(),
                keras.layers.Dense(1),
            ]
        )
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
        fitted.compile(keras.optimizers.SGD(0.1, momentum=0.9), loss, metrics=["accuracy"])
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    history = fitted.fit(
        dataset, validation_data=dataset, epochs=2, callbacks=[schedule], verbose=0
    )
    found["fit"] = {name: list(map(float, values)) for name, values in history.history.items()}
    x = np.random.default_rng(1).normal(size=(27, 5)).astype(np.float32)
    found["arrays"] = fitted.fit(x, x[:, :1], batch_size=8, shuffle=False, verbose=0).history[
        "loss"
    ]
    found["predicted"] = fitted.predict(x, batch_size=8, verbose=0).ravel().tolist()
    return found


def train_weight(strategy: tf.distribute.Strategy) -> list[float]:
    """Trains a variable that there is, by an optimizer whose slots its first step makes; returns its value."""
    with strategy.scope():
        weight = tf.Variable(tf.ones((3, 1)))
        optimizer = keras.optimizers.Adam(0.1)

    @tf.function
    def step(x):
        def replica(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ weight) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

        strategy.run(replica, args=(x,))

    for _ in range(3):
        step(tf.ones((4, 3)))
    return weight.numpy().ravel().tolist()
