"""Keras's callbacks, and users' own, on a model that two replicas train."""

import math

import numpy as np
import pytest

from frontends import tf

keras = tf.keras  # imports Keras before a test runs: it sets an environment variable
callbacks = keras.callbacks
X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
Y = X.sum(1, keepdims=True)
NEVER = {"monitor": "val_loss", "patience": 1, "min_delta": 100.0}  # nothing is better by so much


@pytest.fixture
def model():
    return make()


def make():
    keras.utils.set_random_seed(1)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.Adam(0.05), "mse")
    return model


def fit(model, *used, x=X, **options):
    options = {"epochs": 4, "batch_size": 8, "shuffle": False, "verbose": 0, **options}
    return model.fit(x, Y, validation_data=(x, Y), callbacks=list(used), **options).history


def test_the_learning_rate_is_scheduled(model):
    history = fit(model, callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2))
    np.testing.assert_allclose(history["learning_rate"], 0.05 / 2.0 ** np.arange(1, 5))


def test_the_learning_rate_is_reduced(model):
    history = fit(model, callbacks.ReduceLROnPlateau(**NEVER))
    np.testing.assert_allclose(history["learning_rate"], [0.05, 0.05, 0.005, 0.0005], rtol=1e-5)


def test_stopping_early_restores_the_best_weights(model):
    losses = fit(model, callbacks.EarlyStopping(**NEVER, restore_best_weights=True))["val_loss"]
    assert len(losses) == 2
    assert model.evaluate(X, Y, batch_size=8, verbose=0) == pytest.approx(losses[0])


@pytest.mark.slow
def test_an_interrupted_training_goes_on(model, tmp_path):
    class Interrupt(callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    whole = fit(model)["loss"]
    interrupted = make()
    with pytest.raises(KeyboardInterrupt):
        fit(interrupted, callbacks.BackupAndRestore(tmp_path / "b"), Interrupt())
    assert interrupted.evaluate(X, Y, verbose=0) < whole[1]  # it has its last weights
    restored = fit(make(), callbacks.BackupAndRestore(tmp_path / "b"))["loss"]
    assert restored == pytest.approx(whole[2:], rel=1e-6)


def test_logs_are_written_as_a_table(model, tmp_path):
    losses = fit(model, callbacks.CSVLogger(tmp_path / "log.csv"))["loss"]
    header, *rows = (tmp_path / "log.csv").read_text().split()
    assert header == "epoch,loss,val_loss"
    assert [float(row.split(",")[1]) for row in rows] == losses


def test_a_loss_that_is_no_number_stops(model, capsys):
    x = X.copy()
    x[9] = np.nan
    history = fit(model, callbacks.TerminateOnNaN(), x=x)
    assert len(history["loss"]) == 1
    assert math.isnan(history["loss"][0])
    assert model.optimizer.iterations.numpy() == 2
    assert "Batch 1: Invalid loss" in capsys.readouterr().out


def test_a_callback_reads_and_sets_the_learning_rate(model):
    seen = []

    def at_end(epoch, logs):
        rate = keras.backend.get_value(model.optimizer.lr)
        seen.append((float(rate), float(model.optimizer.learning_rate)))
        keras.backend.set_value(model.optimizer.lr, rate / 10)

    fit(model, callbacks.LambdaCallback(on_epoch_end=at_end), epochs=3)
    np.testing.assert_allclose(seen, [[0.05] * 2, [0.005] * 2, [0.0005] * 2], rtol=1e-5)


def test_a_callback_sees_logs_and_weights_after_each_batch(model):
    class Watch(callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.losses, self.kernels = [], []

        def on_train_batch_end(self, batch, logs=None):
            self.losses.append(logs["loss"])
            self.kernels.append(self.model.get_weights()[0])

    watch = Watch()
    history = fit(model, watch, epochs=1)
    assert len(watch.losses) == 4
    assert all(isinstance(loss, float) for loss in watch.losses)
    assert watch.losses[-1] == history["loss"][0]  # it is the mean so far
    assert all((a != b).any() for a, b in zip(watch.kernels, watch.kernels[1:], strict=False))


def test_weights_that_a_callback_sets_are_trained_on(model):
    class Reset(callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 3:
                self.model.set_weights([np.zeros((3, 1)), np.zeros(1)])

    fit(model, Reset(), epochs=1)
    assert not model.get_weights()[0].any()
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(float((Y**2).mean()), rel=1e-5)


def test_a_callback_stops_in_an_epoch(model):
    class Stop(callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

    fit(model, Stop())
    assert model.optimizer.iterations.numpy() == 2


def test_the_progress_bar_is_keras_own(model, capsys):
    fit(model, epochs=1, verbose=2)
    assert "4/4 - " in capsys.readouterr().out
