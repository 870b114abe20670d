"""The TensorBoard callback: the files that TensorFlow's callback writes, without TensorFlow."""

import json
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from frontends import tf

keras = tf.keras  # imports Keras before a test runs: it sets an environment variable

X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
Y = X.sum(1, keepdims=True)

EPOCHS = {"epoch_loss": [0, 1], "epoch_mae": [0, 1], "epoch_learning_rate": [0, 1]}
# Recorded from TensorFlow 2.21 with Keras 3: plugins, tags and steps of two epochs of four batches.
VALIDATION = {
    "epoch_loss": [0, 1],
    "epoch_mae": [0, 1],
    "evaluation_loss_vs_iterations": [4, 8],
    "evaluation_mae_vs_iterations": [4, 8],
}
TRAIN = {
    "epoch": (
        {"write_graph": True},
        {"keras": [0], **EPOCHS},
    ),
    "every 2 batches": (
        {"update_freq": 2, "write_graph": False, "write_steps_per_second": True},
        {
            "batch_steps_per_second": [2, 4, 6, 8],
            "batch_loss": [2, 4, 6, 8],
            "batch_mae": [2, 4, 6, 8],
            **EPOCHS,
            "epoch_steps_per_second": [0, 1],
        },
    ),
    "each batch": (
        {"update_freq": "batch", "write_graph": False},
        {"batch_loss": [*range(1, 9)], "batch_mae": [*range(1, 9)], **EPOCHS},
    ),
    "weights": (
        {"histogram_freq": 1, "write_images": True, "write_graph": False},
        {
            **EPOCHS,
            "net/first/kernel/histogram": [0, 1],
            "net/first/kernel/image": [0, 1],
            "net/first/bias/histogram": [0, 1],
            "net/first/bias/image": [0, 1],
            "net/last/kernel/histogram": [0, 1],
            "net/last/kernel/image": [0, 1],
            "net/last/bias/histogram": [0, 1],
        },
    ),
}


def make():
    keras.utils.set_random_seed(0)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential(
            [
                keras.Input((3,)),
                keras.layers.Dense(4, name="first"),
                keras.layers.Dense(1, name="last"),
            ],
            name="net",
        )
        model.compile("adam", "mse", metrics=["mae"])
    return model


def fit(model, callback):
    return model.fit(
        X, Y, batch_size=8, epochs=2, validation_data=(X, Y), verbose=0, callbacks=[callback]
    ).history


def events_of(folder):
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return events


def steps_of(folder):
    events = events_of(folder)
    return {tag: [e.step for e in events.Tensors(tag)] for tag in events.Tags()["tensors"]}


def values_of(folder, tag):
    return [event.tensor_proto.float_val[0] for event in events_of(folder).Tensors(tag)]


@pytest.mark.parametrize("case", TRAIN)
def test_the_files_are_tensorflows(tmp_path, case):
    options, train = TRAIN[case]
    fit(make(), keras.callbacks.TensorBoard(log_dir=tmp_path, **options))
    assert steps_of(tmp_path / "train") == train
    assert steps_of(tmp_path / "validation") == VALIDATION
    assert "tensorflow" not in sys.modules
    assert not tf.summary.should_record_summaries()


def test_the_curves_are_the_history(tmp_path):
    history = fit(make(), keras.callbacks.TensorBoard(tmp_path))
    for name in ("loss", "mae"):
        np.testing.assert_allclose(values_of(tmp_path / "train", f"epoch_{name}"), history[name])
        np.testing.assert_allclose(
            values_of(tmp_path / "validation", f"epoch_{name}"), history[f"val_{name}"]
        )


def test_the_layers_are_a_graph(tmp_path):
    from tensorboard.plugins.graph.keras_util import keras_model_to_graph_def

    model = make()
    fit(model, keras.callbacks.TensorBoard(tmp_path))
    events = events_of(tmp_path / "train")
    assert events.SummaryMetadata("keras").plugin_data.plugin_name == "graph_keras_model"
    [event] = events.Tensors("keras")
    graph = keras_model_to_graph_def(json.loads(event.tensor_proto.string_val[0]))
    assert [node.name for node in graph.node][-2:] == ["net/first", "net/last"]


def test_another_model_has_no_graph(tmp_path):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

    model = Net()
    model.compile("sgd", "mse", metrics=["mae"])
    fit(model, keras.callbacks.TensorBoard(tmp_path))
    assert steps_of(tmp_path / "train") == EPOCHS


def test_a_users_summaries_go_to_the_same_file(tmp_path):
    class Own(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            tf.summary.scalar("own", logs["loss"])

    model = make()
    board = keras.callbacks.TensorBoard(tmp_path, update_freq=2, write_graph=False)
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0, callbacks=[board, Own()])
    assert steps_of(tmp_path / "train")["own"] == [2, 4]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Keras asks for Python 3.12")
def test_a_profile_is_written(tmp_path):
    fit(make(), keras.callbacks.TensorBoard(tmp_path, profile_batch=(2, 3)))
    assert list((tmp_path / "train" / "plugins" / "profile").glob("*/*.xplane.pb"))
