"""`Model.fit`, `evaluate` and `predict`: histories and weights of small models under a strategy."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario
from tests.golden.scenarios.training import START, examples

GROUP = "fitting"
SETTINGS = ("n1", "n2", "default")
X, Y = examples(16)
WEIGHTS = f32([1, 2, 0, 1, 0.5, 1, 1, 3] * 2)
CLASSES = np.array([0, 1, 2, 1] * 4, np.int32)
EPOCHS: dict[str, Any] = {"epochs": 3, "shuffle": False, "verbose": 0}


def _model(s: Setting, units: int = 1, activation: str | None = None, **dense: Any) -> Any:
    layers = s.tf.keras.layers
    model = s.tf.keras.Sequential(
        [layers.Input((3,)), layers.Dense(units, activation=activation, **dense)]
    )
    kernel = START if units == 1 else np.sin(np.arange(3 * units)).reshape(3, units) * 0.3
    model.set_weights([f32(kernel), f32(np.zeros(units))])
    return model


def _compiled(s: Setting, optimizer: Any = None, loss: Any = "mse", **options: Any) -> Any:
    own = {key: options.pop(key) for key in ("units", "activation") if key in options}
    dense = {key: options.pop(key) for key in list(options) if key.endswith("regularizer")}
    with s.strategy.scope():
        model = _model(s, **own, **dense)
        optimizer = optimizer() if optimizer else s.tf.keras.optimizers.SGD(0.1)
        model.compile(optimizer=optimizer, loss=loss, **options)
    return model


def _result(model: Any, history: Any) -> dict[str, Any]:
    # Keras 3 says learning_rate where Keras 2 says lr.
    found = {key: [float(v) for v in values] for key, values in history.history.items()}
    return {
        "history": {key: found[key] for key in sorted(found) if key not in ("lr", "learning_rate")},
        "weights": [np.asarray(weight).tolist() for weight in model.get_weights()],
    }


def _fitted(s: Setting, fit: Callable[[Any], Any], **compiled: Any) -> Callable[[], Any]:
    def run() -> Any:
        model = _compiled(s, **compiled)
        return _result(model, fit(model))

    return run


def _classified(s: Setting) -> dict[str, Any]:
    return {
        "loss": "sparse_categorical_crossentropy",
        "units": 3,
        "activation": "softmax",
        "metrics": ["accuracy"],
    }


@scenario("fit.even", GROUP, SETTINGS)
def even(s: Setting) -> Iterator[Case]:
    """TensorFlow's own result does not depend on the number of replicas: every batch of `fit` fills them."""
    o = s.tf.keras.optimizers
    optimizers = {
        "sgd": lambda: o.SGD(0.1),
        "momentum": lambda: o.SGD(0.05, momentum=0.9),
        "adam": lambda: o.Adam(0.05, epsilon=1e-7),
        "clipnorm": lambda: o.SGD(0.1, clipnorm=0.5),
        "rmsprop": lambda: o.RMSprop(0.01),
    }
    for name, make in optimizers.items():
        yield name, _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **EPOCHS), optimizer=make)
    yield (
        "metrics",
        _fitted(s, lambda m: m.fit(X, Y, batch_size=4, **EPOCHS), metrics=["mae", "mse"]),
    )
    yield (
        "sample_weight",
        _fitted(
            s,
            lambda m: m.fit(X, Y, sample_weight=WEIGHTS, batch_size=8, **EPOCHS),
            metrics=["mae"],
            weighted_metrics=["mse"],
        ),
    )
    classes = {0: 1.0, 1: 3.0, 2: 0.5}
    yield (
        "class_weight",
        _fitted(
            s,
            lambda m: m.fit(X, CLASSES, class_weight=classes, batch_size=8, **EPOCHS),
            **_classified(s),
        ),
    )
    yield (
        "validation_split",
        _fitted(s, lambda m: m.fit(X, Y, validation_split=0.25, batch_size=4, **EPOCHS)),
    )
    validation = (X[:8] * 2, Y[:8], WEIGHTS[:8])
    yield (
        "validation_freq",
        _fitted(
            s,
            lambda m: m.fit(
                X, Y, validation_data=validation, validation_freq=2, batch_size=8, **EPOCHS
            ),
        ),
    )

    for name, weights in {"validation_data": (), "validation_weights": (WEIGHTS[:7],)}.items():
        yield (
            name,
            _fitted(
                s,
                lambda m, weights=weights: m.fit(
                    X, Y, validation_data=(X[:7] * 2, Y[:7], *weights), batch_size=4, **EPOCHS
                ),
                metrics=["mae"],
            ),
        )

    def dataset(*arrays: Any) -> Any:
        return s.tf.data.Dataset.from_tensor_slices(arrays)

    yield "dataset", _fitted(s, lambda m: m.fit(dataset(X, Y).batch(8), epochs=3, verbose=0))
    yield (
        "dataset_weights",
        _fitted(s, lambda m: m.fit(dataset(X, Y, WEIGHTS).batch(8), epochs=2, verbose=0)),
    )
    yield (
        "dataset_class_weight",
        _fitted(
            s,
            lambda m: m.fit(
                dataset(X, CLASSES).batch(8), class_weight=classes, epochs=2, verbose=0
            ),
            **_classified(s),
        ),
    )
    yield (
        "steps_per_epoch",
        _fitted(
            s,
            lambda m: m.fit(
                dataset(X, Y).batch(4).repeat(), steps_per_epoch=3, epochs=3, verbose=0
            ),
        ),
    )
    yield (
        "initial_epoch",
        _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **{**EPOCHS, "initial_epoch": 1})),
    )
    for steps in (2, 3):
        yield (
            f"steps_per_execution={steps}",
            _fitted(s, lambda m: m.fit(X, Y, batch_size=4, **EPOCHS), steps_per_execution=steps),
        )
    mse = s.tf.keras.losses.MeanSquaredError
    yield (
        "loss_sum",
        _fitted(
            s,
            lambda m: m.fit(X, Y, batch_size=8, **EPOCHS),
            loss=mse(reduction="sum"),
            optimizer=lambda: o.SGD(0.01),
        ),
    )
    yield "loss_object", _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **EPOCHS), loss=mse())
    l2 = s.tf.keras.regularizers.L2(0.05)
    yield (
        "regularizer",
        _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **EPOCHS), kernel_regularizer=l2),
    )

    def own_loss(y: Any, prediction: Any) -> Any:
        return s.tf.reduce_mean(s.tf.square(y - prediction), axis=-1) + 0.5

    yield "loss_function", _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **EPOCHS), loss=own_loss)
    slower = s.tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    yield (
        "learning_rate",
        _fitted(s, lambda m: m.fit(X, Y, batch_size=8, callbacks=[slower], **EPOCHS)),
    )
    yield "stopped_early", _fitted(s, lambda m: _stopped(s, m))
    yield "on_batch", lambda: _on_batch(s)
    outside = o.SGD(0.05, momentum=0.9)
    yield (
        "optimizer_made_outside",
        _fitted(s, lambda m: m.fit(X, Y, batch_size=8, **EPOCHS), optimizer=lambda: outside),
    )
    yield "model_made_outside", lambda: _made_outside(s)
    yield "add_loss", lambda: _added_loss(s)


def _made_outside(s: Setting) -> Any:
    model = _model(s)
    with s.strategy.scope():
        model.compile(optimizer=s.tf.keras.optimizers.SGD(0.1), loss="mse")
    return _result(model, model.fit(X, Y, batch_size=8, **EPOCHS))


def _added_loss(s: Setting) -> Any:
    with s.strategy.scope():
        model = _model(s)
        kernel = model.trainable_variables[0]
        model.add_loss(lambda: 0.05 * s.tf.reduce_sum(s.tf.square(kernel)))
        model.compile(optimizer=s.tf.keras.optimizers.SGD(0.1), loss="mse")
    return _result(model, model.fit(X, Y, batch_size=8, **EPOCHS))


def _stopped(s: Setting, model: Any) -> Any:
    stop = s.tf.keras.callbacks.EarlyStopping(
        monitor="loss", min_delta=0.2, patience=1, restore_best_weights=True
    )
    options = {**EPOCHS, "epochs": 20}
    return model.fit(X, Y, batch_size=8, callbacks=[stop], **options)


def _on_batch(s: Setting) -> Any:
    model = _compiled(s, metrics=["mae"])
    trained = [[float(v) for v in model.train_on_batch(X[:8], Y[:8])] for _ in range(3)]
    tested = [float(v) for v in model.test_on_batch(X[:4], Y[:4])]
    return {
        "trained": trained,
        "tested": tested,
        "predicted": np.asarray(model.predict_on_batch(X[:4])).ravel().tolist(),
    }


@scenario("fit.batch_norm", GROUP, SETTINGS)
def batch_norm(s: Setting) -> Iterator[Case]:
    """Statistics are a replica's own, moving averages their mean."""

    def run() -> Any:
        layers = s.tf.keras.layers
        with s.strategy.scope():
            model = s.tf.keras.Sequential(
                [
                    layers.Input((3,)),
                    layers.BatchNormalization(momentum=0.9, epsilon=1e-3),
                    layers.Dense(1),
                ]
            )
            model.layers[-1].set_weights([f32(START), f32([0.0])])
            model.compile(optimizer=s.tf.keras.optimizers.SGD(0.1), loss="mse")
        return _result(model, model.fit(X, Y, batch_size=8, **EPOCHS))

    yield "normalized", run


@scenario("fit.uneven", GROUP, SETTINGS)
def uneven(s: Setting) -> Iterator[Case]:
    """Batches that do not fill all replicas."""
    for rows, batch in ((13, 8), (13, 5), (9, 8), (3, 1)):
        yield (
            f"{rows}_in_{batch}",
            _fitted(
                s,
                lambda m, rows=rows, batch=batch: m.fit(
                    X[:rows], Y[:rows], batch_size=batch, **EPOCHS
                ),
                metrics=["mae"],
            ),
        )
    yield (
        "sample_weight",
        _fitted(
            s,
            lambda m: m.fit(X[:13], Y[:13], sample_weight=WEIGHTS[:13], batch_size=8, **EPOCHS),
        ),
    )
    yield (
        "classes",
        _fitted(s, lambda m: m.fit(X[:13], CLASSES[:13], batch_size=8, **EPOCHS), **_classified(s)),
    )
    tf = s.tf
    yield (
        "loss_sum",
        _fitted(
            s,
            lambda m: m.fit(X[:13], Y[:13], batch_size=8, **EPOCHS),
            loss=tf.keras.losses.MeanSquaredError(reduction="sum"),
            optimizer=lambda: tf.keras.optimizers.SGD(0.01),
        ),
    )
    yield (
        "dataset",
        _fitted(
            s,
            lambda m: m.fit(
                tf.data.Dataset.from_tensor_slices((X[:13], Y[:13])).batch(5), epochs=3, verbose=0
            ),
        ),
    )


@scenario("fit.evaluate", GROUP, SETTINGS)
def evaluate(s: Setting) -> Iterator[Case]:
    """Loss and metrics, of batches that fit and that do not."""
    made: list[Any] = []

    def model() -> Any:
        if not made:
            made.append(_compiled(s, metrics=["mae"]))
        return made[0]

    for rows in (16, 13, 9, 1):
        for batch in (8, 5):
            yield (
                f"{rows}_in_{batch}",
                lambda rows=rows, batch=batch: [
                    float(v)
                    for v in model().evaluate(X[:rows], Y[:rows], batch_size=batch, verbose=0)
                ],
            )
    yield (
        "weighted",
        lambda: [
            float(v) for v in model().evaluate(X, Y, sample_weight=WEIGHTS, batch_size=8, verbose=0)
        ],
    )
    yield (
        "as_dict",
        lambda: {
            key: float(value)
            for key, value in model().evaluate(X, Y, verbose=0, return_dict=True).items()
        },
    )


@scenario("fit.predict", GROUP, SETTINGS)
def predict(s: Setting) -> Iterator[Case]:
    """Order and length of what is predicted."""
    made: list[Any] = []

    def model() -> Any:
        if not made:
            made.append(_compiled(s))
        return made[0]

    for rows in (16, 13, 5, 1):
        for batch in (8, 3):
            yield (
                f"{rows}_in_{batch}",
                lambda rows=rows, batch=batch: (
                    model().predict(X[:rows], batch_size=batch, verbose=0).ravel().tolist()
                ),
            )
    yield (
        "dataset",
        lambda: (
            model()
            .predict(s.tf.data.Dataset.from_tensor_slices(X[:13]).batch(5), verbose=0)
            .ravel()
            .tolist()
        ),
    )
