"""`BackupAndRestore`: a fit that was interrupted ends as one that was not, to the last bit."""

import contextlib
import functools
import gc
import signal

import numpy as np
import pytest

from frontends import tf
from spmd.checkpoint import DamagedCheckpointError, DamagedCheckpointWarning

keras = tf.keras  # imports Keras before a test runs: it sets an environment variable
X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
Y = X.sum(1, keepdims=True)


class Stop(Exception):
    pass


class StopAt(keras.callbacks.Callback):
    """Interrupts the training after a number of batches, or before an epoch."""

    def __init__(self, batches=None, epoch=None):
        super().__init__()
        self.left, self.epoch, self.begun = batches, epoch, []

    def on_epoch_begin(self, epoch, logs=None):
        self.begun.append(epoch)
        if epoch == self.epoch:
            raise Stop

    def on_train_batch_end(self, batch, logs=None):
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                raise Stop


def arrays():
    return {"x": X, "y": Y, "batch_size": 4, "shuffle": False}


def shuffled():
    return {"x": tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(32).batch(4)}


def endless():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(32).repeat().batch(4)
    return {"x": data, "steps_per_epoch": 5}


def of_unknown_length():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(32).filter(lambda *_: True).batch(4)
    return {"x": data}


def distributed():
    strategy = tf.distribute.get_strategy()
    return {"x": strategy.experimental_distribute_dataset(shuffled()["x"])}


def fit(make_data, *callbacks, epochs=3, **options):
    keras.utils.set_random_seed(1)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential(
            [keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
        )
        model.compile(keras.optimizers.Adam(0.05), "mse", metrics=["mae"], **options)
        data = make_data()
    history = model.fit(
        **data, validation_data=(X, Y), epochs=epochs, callbacks=list(callbacks), verbose=0
    )
    return history, model


@functools.cache
def unbroken(make_data, **options):
    """The history of a training that nobody interrupts, and the weights at its end."""
    history, model = fit(make_data, **options)
    return history.history, [np.array(variable) for variable in model.variables]


def ends_equal(model, expected):
    for one, other in zip(model.variables, expected, strict=True):
        np.testing.assert_array_equal(one, other)


BATCHES = {"stop": {"batches": 14}, "save_freq": 3, "first_epoch": None}
EPOCHS = {"stop": {"epoch": 2}, "save_freq": "epoch", "first_epoch": 2}
LAST = {"stop": {"epoch": 1}, "save_freq": 8, "first_epoch": 1}  # 8 batches are an epoch
AT_ONCE = {"stop": {"batches": 2}, "save_freq": "epoch", "first_epoch": 0}
QUICK = [(arrays, AT_ONCE), (endless, BATCHES)]
ALL = [
    (data, when)
    for data in (arrays, shuffled, endless, of_unknown_length, distributed)
    for when in (EPOCHS, BATCHES)
] + [(arrays, LAST)]
CASES = QUICK + [pytest.param(*case, marks=pytest.mark.slow) for case in ALL if case not in QUICK]


@pytest.mark.parametrize(("data", "when"), CASES)
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_ends_as_if_it_had_not_been_interrupted(tmp_path, data, when):
    first_epoch = when["first_epoch"]

    def backup():
        return keras.callbacks.BackupAndRestore(tmp_path / "backup", when["save_freq"])

    whole, expected = unbroken(data)
    with pytest.raises(Stop):
        fit(data, backup(), StopAt(**when["stop"]))
    seen = StopAt()
    rest, model = fit(data, backup(), seen)
    ends_equal(model, expected)
    for name, values in rest.history.items():
        assert values == whole[name][-len(values) :]
    assert first_epoch is None or seen.begun[0] == first_epoch
    assert len(rest.epoch) == 3 - seen.begun[0]
    assert not (tmp_path / "backup").exists()
    gc.collect()  # the frames of the interrupted fit hold its iterator, and so a thread


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_the_last_batch_of_an_epoch_whose_length_is_not_known(tmp_path):
    """What was saved is after it, and the epoch has not come to its end."""

    def backup():
        return keras.callbacks.BackupAndRestore(tmp_path / "backup", 8)

    whole, expected = unbroken(of_unknown_length)
    with pytest.raises(Stop):
        fit(of_unknown_length, backup(), StopAt(batches=8))
    seen = StopAt()
    rest, model = fit(of_unknown_length, backup(), seen)
    assert seen.begun == [0, 1, 2]
    assert rest.history == whole
    ends_equal(model, expected)


@pytest.mark.slow
def test_several_steps_at_once(tmp_path):
    def backup():
        return keras.callbacks.BackupAndRestore(tmp_path / "backup", 4)

    _, expected = unbroken(arrays, steps_per_execution=2)
    with pytest.raises(Stop):
        fit(arrays, backup(), StopAt(batches=3), steps_per_execution=2)
    _, model = fit(arrays, backup(), steps_per_execution=2)
    ends_equal(model, expected)


def test_what_was_saved_can_be_kept(tmp_path):
    for _ in range(2):
        backup = keras.callbacks.BackupAndRestore(
            tmp_path / "backup", double_checkpoint=True, delete_checkpoint=False
        )
        history, _ = fit(arrays, backup, epochs=3)
    assert history.epoch == []
    assert sorted(path.name for path in (tmp_path / "backup").iterdir()) == ["step-2", "step-3"]


@pytest.mark.slow
def test_new_ones_come_after_a_damaged_one(tmp_path):
    def backup():
        return keras.callbacks.BackupAndRestore(
            tmp_path / "backup", delete_checkpoint=False, double_checkpoint=True
        )

    fit(arrays, backup(), epochs=2)
    (tmp_path / "backup" / "step-2" / "manifest.json").write_text("")
    with pytest.warns(DamagedCheckpointWarning):
        history, _ = fit(arrays, backup(), epochs=2)
    assert history.epoch == [1]
    names = {path.name for path in (tmp_path / "backup").iterdir()}
    assert "step-3" in names
    assert fit(arrays, backup(), epochs=3)[0].epoch == [2]


def test_no_new_start_over_a_damaged_one(tmp_path):
    def backup():
        return keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)

    fit(arrays, backup(), epochs=1)
    (tmp_path / "backup" / "step-1" / "manifest.json").write_text("")
    with (
        pytest.warns(DamagedCheckpointWarning),
        pytest.raises(DamagedCheckpointError, match="start anew on purpose: mv "),
    ):
        fit(arrays, backup(), epochs=2)


def test_saves_when_told_to_end(tmp_path, monkeypatch):
    class Sync:
        answers = iter([False] * 11 + [True])

        def reached(self):
            return next(self.answers, False)

        def close(self):
            pass

    monkeypatch.setattr("frontends.tf.keras._backup.PreemptionSync", Sync)

    def backup():
        return keras.callbacks.BackupAndRestore(
            tmp_path / "backup", save_freq=False, save_before_preemption=True
        )

    _, expected = unbroken(shuffled)
    with pytest.raises(SystemExit) as exited:
        fit(shuffled, backup())
    assert exited.value.code == 143
    seen = StopAt()
    _, model = fit(shuffled, backup(), seen)
    assert seen.begun[0] == 1
    ends_equal(model, expected)


@pytest.mark.parametrize("fails", [False, True])
def test_gives_sigterm_back(tmp_path, fails):
    before = signal.getsignal(signal.SIGTERM)
    backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", save_before_preemption=True)
    with pytest.raises(Stop) if fails else contextlib.nullcontext():
        fit(arrays, backup, StopAt(batches=1 if fails else None), epochs=1)
    assert signal.getsignal(signal.SIGTERM) is before


def test_something_has_to_be_saved(tmp_path):
    with pytest.raises(ValueError, match="save_before_preemption=True"):
        keras.callbacks.BackupAndRestore(tmp_path, save_freq=False)


def test_has_its_former_name():
    assert keras.callbacks.experimental.BackupAndRestore is keras.callbacks.BackupAndRestore


def test_training_goes_on_from_a_store(bucket):
    x = np.ones((8, 3), np.float32)

    def fit(epochs, **options):
        tf.keras.utils.set_random_seed(0)
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        callback = tf.keras.callbacks.BackupAndRestore(f"{bucket}/backup", **options)
        return model.fit(x, x[:, :1], epochs=epochs, verbose=0, callbacks=[callback]), model

    fit(2, delete_checkpoint=False)
    history, model = fit(3)
    assert history.epoch == [2]
    assert not tf.io.gfile.exists(f"{bucket}/backup")
    _, whole = fit(3)
    for value, expected in zip(model.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_array_equal(value, expected)
