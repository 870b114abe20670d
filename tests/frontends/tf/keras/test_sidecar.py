"""A task that evaluates a model from the checkpoints that others write."""

import logging
import sys
import threading

import numpy as np
import pytest

from frontends import tf

# In `tf.train`, the name is that of the function.
MODULE = tf.train.checkpoints_iterator.__module__

X = np.sin(np.arange(40, dtype=np.float32).reshape(20, 2))
DATA = tf.data.Dataset.from_tensor_slices((X, X.sum(1, keepdims=True))).batch(10)


class Losses(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.found = []

    def on_test_end(self, logs=None):
        self.found.append(logs["loss"])


def model():
    made = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(sys.modules[MODULE], "_POLL_SECONDS", 0.02)


def test_weights_of_each_epoch_are_evaluated(tmp_path):
    losses, evaluated = Losses(), model()
    evaluator = tf.keras.utils.SidecarEvaluator(
        evaluated, DATA, tmp_path, steps=2, max_evaluations=2, callbacks=[losses]
    )
    thread = threading.Thread(target=evaluator.start)
    thread.start()
    trained = model()
    save = tf.keras.callbacks.ModelCheckpoint(tmp_path / "ckpt-{epoch}", save_weights_only=True)
    trained.fit(DATA, epochs=2, verbose=0, callbacks=[save])
    thread.join(60)
    assert not thread.is_alive()
    assert losses.found[-1] == pytest.approx(trained.evaluate(DATA, verbose=0))
    assert evaluated.get_weights()[0].tolist() == trained.get_weights()[0].tolist()


def test_checkpoints_tell_the_number_of_steps(tmp_path, caplog):
    trained = model()
    trained.fit(DATA, epochs=2, verbose=0)
    checkpoint = tf.train.Checkpoint(model=trained, optimizer=trained.optimizer)
    tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1).save()
    losses = Losses()
    with caplog.at_level(logging.INFO, "tensorflow"):
        tf.keras.experimental.SidecarEvaluator(
            model(), DATA, tmp_path, max_evaluations=1, callbacks=[losses]
        ).start()
    assert losses.found == [pytest.approx(trained.evaluate(DATA, verbose=0))]
    assert "iterations 4" in caplog.text


def test_a_last_one_needs_a_number(tmp_path):
    model().save_weights(tmp_path / "best")
    with pytest.raises(ValueError, match="ckpt-1"):
        tf.keras.utils.SidecarEvaluator(model(), DATA, tmp_path, max_evaluations=1).start()
