"""`model.fit` under a `ParameterServerStrategy`."""

import numpy as np
import pytest

from frontends import tf
from spmd.servers import Store
from spmd.state import SparseRows
from tests.frontends.tf.distribute.coordinator.clusters import strategy as make_strategy

ROWS = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
TARGETS = ROWS.sum(1)


def data(context=None):
    return tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).repeat().batch(16)


def make_model(strategy, **kwargs):
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(8, activation="relu"),
                tf.keras.layers.BatchNormalization(),
                tf.keras.layers.Dense(1),
            ]
        )
        model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"], **kwargs)
    return model


@pytest.mark.parametrize("at_once", [1, 4])
def test_one_worker_trains_as_one_device_does(at_once):
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    there = make_model(
        make_strategy(1, 2, variable_partitioner=partitioner), steps_per_execution=at_once
    )
    here = make_model(tf.distribute.OneDeviceStrategy("cpu:0"))
    creator = tf.keras.utils.experimental.DatasetCreator(data)
    histories = [
        model.fit(creator, epochs=3, steps_per_epoch=4, verbose=0).history
        for model in (there, here)
    ]
    for name in ("loss", "mae"):
        np.testing.assert_allclose(histories[0][name], histories[1][name], rtol=1e-4)
    for ours, expected in zip(there.get_weights(), here.get_weights(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        there.evaluate(ROWS, TARGETS, verbose=0), here.evaluate(ROWS, TARGETS, verbose=0), rtol=1e-4
    )
    np.testing.assert_allclose(
        there.predict(ROWS, verbose=0), here.predict(ROWS, verbose=0), rtol=1e-3, atol=1e-4
    )


def test_several_workers_train_one_model(tmp_path):
    model = make_model(make_strategy(3, 2))
    saved = tmp_path / "model.keras"
    history = model.fit(
        data(),
        epochs=3,
        steps_per_epoch=20,
        verbose=0,
        validation_data=tf.data.Dataset.from_tensor_slices((ROWS, TARGETS)).batch(64),
        callbacks=[
            tf.keras.callbacks.ModelCheckpoint(saved),
            tf.keras.callbacks.BackupAndRestore(tmp_path / "backup"),
        ],
    ).history
    assert int(model.optimizer.iterations.value) == 60
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    assert set(history) == {"loss", "mae", "val_loss", "val_mae"}
    loaded = tf.keras.models.load_model(saved)
    np.testing.assert_allclose(loaded.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0))


class _Killed(Exception):
    pass


class _Kill(tf.keras.callbacks.Callback):
    """Raises in the second epoch; notes how many steps each epoch begins after."""

    def __init__(self, kills):
        super().__init__()
        self.kills, self.begun = kills, []

    def on_epoch_begin(self, epoch, logs=None):
        self.begun.append((epoch, int(self.model.optimizer.iterations.numpy())))

    def on_train_batch_end(self, batch, logs=None):
        if self.kills and self.begun[-1][0] == 1 and batch == 5:
            raise _Killed


@pytest.mark.parametrize(("save_freq", "saved"), [("epoch", 8), (4, 12)])
def test_a_backup_is_gone_on_from(tmp_path, save_freq, saved):
    def fit(folder, *, kills=False):
        model, kill = make_model(make_strategy(1, 1)), _Kill(kills)
        callbacks = [tf.keras.callbacks.BackupAndRestore(folder, save_freq=save_freq), kill]
        creator = tf.keras.utils.experimental.DatasetCreator(data)
        try:
            history = model.fit(
                creator, epochs=3, steps_per_epoch=8, verbose=0, callbacks=callbacks
            ).history
        except _Killed:
            return None
        return model, history, kill.begun

    expected, whole, _ = fit(tmp_path / "whole")
    assert fit(tmp_path / "broken", kills=True) is None
    model, history, begun = fit(tmp_path / "broken")
    assert begun == [(1, saved), (2, 16)]
    assert int(model.optimizer.iterations.numpy()) == 24
    for name, values in history.items():
        np.testing.assert_allclose(values, whole[name][1:], rtol=1e-4)
    for ours, theirs in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_an_epoch_needs_a_length_and_workers_need_a_dataset():
    model = make_model(make_strategy(1))
    with pytest.raises(ValueError, match="fit needs `steps_per_epoch`"):
        model.fit(data())
    with pytest.raises(
        ValueError, match=r"fit needs a tf\.keras\.utils\.experimental\.DatasetCreator"
    ):
        model.fit(ROWS, TARGETS, steps_per_epoch=2)


def test_a_dataset_that_ends_is_an_error():
    model = make_model(make_strategy(1))
    with pytest.raises(ValueError, match=r"The dataset of a worker ended.*repeat\(\)"):
        model.fit(data().take(3), steps_per_epoch=5, verbose=0)


def test_an_error_of_a_worker_ends_fit():
    def broken(context):
        def rows():
            yield ROWS[:16], TARGETS[:16]
            raise OSError("disk is gone")

        spec = tf.TensorSpec((16, 4)), tf.TensorSpec((16,))
        return tf.data.Dataset.from_generator(rows, output_signature=spec)

    model = make_model(make_strategy(2))
    creator = tf.keras.utils.experimental.DatasetCreator(broken)
    with pytest.raises(OSError, match="disk is gone"):
        model.fit(creator, steps_per_epoch=50, verbose=0)


def test_an_embedding_moves_only_its_rows(monkeypatch):
    def train(strategy):
        tf.keras.utils.set_random_seed(2)
        with strategy.scope():
            numbers = tf.keras.Input((6,), dtype="int32")
            rows = tf.keras.layers.Embedding(2000, 16, mask_zero=True)(numbers)
            model = tf.keras.Model(numbers, tf.keras.layers.Dense(1)(tf.keras.layers.LSTM(3)(rows)))
            model.compile("adam", "mse")
        words = np.random.default_rng(0).integers(0, 2000, (32, 6))
        data = tf.data.Dataset.from_tensor_slices((words, TARGETS[:32])).repeat().batch(8)
        history = model.fit(data, epochs=2, steps_per_epoch=4, verbose=0).history
        return history["loss"], model.layers[1].get_weights()[0], words

    sent, push = [], Store.push
    monkeypatch.setattr(
        Store, "push", lambda self, changes: sent.extend(changes) or push(self, changes)
    )
    losses, table, words = train(make_strategy(1, 2))
    expected, whole, _ = train(tf.distribute.OneDeviceStrategy("cpu:0"))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(table, whole, rtol=1e-4, atol=1e-6)
    gradients = [one.operand[0] for one in sent if one.verb == "apply"]
    numbers = [one.indices.tolist() for one in gradients if isinstance(one, SparseRows)]
    assert numbers == [np.unique(words[i : i + 8]).tolist() for i in (0, 8, 16, 24)] * 2
    assert max(one.size for one in gradients if isinstance(one, np.ndarray)) < 2000
