"""Weights and models in files: TensorFlow's paths, and what is saved under one strategy loads under others."""

import contextlib
import functools

import numpy as np
import pytest

from frontends import tf

keras = tf.keras  # imports Keras before a test runs: it sets an environment variable

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 3)).astype(np.float32)
Y = X.sum(1, keepdims=True)
STRATEGIES = {
    "none": lambda: None,
    "one device": lambda: tf.distribute.OneDeviceStrategy("cpu:0"),
    "two devices": lambda: tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]),
}
PAIRS = [("none", "two devices"), ("two devices", "none"), ("two devices", "one device")]


def crossed(paths, pairs):
    """All combinations; only those along the diagonal are quick, where each value is once at least."""
    length = max(len(paths), len(pairs))
    diagonal = {(paths[i % len(paths)], pairs[i % len(pairs)]) for i in range(length)}
    return [
        pytest.param(path, *pair, marks=() if (path, pair) in diagonal else pytest.mark.slow)
        for path in paths
        for pair in pairs
    ]


def scope(name):
    strategy = STRATEGIES[name]()
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def make(name="none", optimizer="adam", compiled=True):
    keras.utils.set_random_seed(1)
    with scope(name):
        model = keras.Sequential(
            [
                keras.layers.Dense(4, "tanh", input_shape=(3,)),
                keras.layers.BatchNormalization(),
                keras.layers.Dense(1),
            ]
        )
        if compiled:
            model.compile(optimizer, "mse", metrics=["mae"])
    return model


def fit(model, **options):
    options = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0, **options}
    return model.fit(X, Y, **options).history["loss"]


@functools.cache
def unbroken(name):
    """The losses of four epochs."""
    return fit(make(name), epochs=4)


def evaluate(model):
    return model.evaluate(X, Y, batch_size=8, verbose=0)


def same(model, other):
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "name", ["none", pytest.param("one device", marks=pytest.mark.slow), "two devices"]
)
def test_checkpoints_of_each_epoch(tmp_path, name):
    model = make(name)
    prefix = str(tmp_path / "dir" / "ckpt_{epoch}")
    fit(model, callbacks=[keras.callbacks.ModelCheckpoint(prefix, save_weights_only=True)])
    assert {path.name for path in (tmp_path / "dir").iterdir()} == {
        "checkpoint",
        "ckpt_1.weights.h5",
        "ckpt_2.weights.h5",
    }
    latest = tf.train.latest_checkpoint(tmp_path / "dir")
    assert latest == str(tmp_path / "dir" / "ckpt_2")
    other = make()
    other.load_weights(latest).expect_partial().assert_existing_objects_matched()
    same(model, other)
    assert evaluate(other) == pytest.approx(evaluate(model), rel=1e-5)


def test_only_the_best_is_saved(tmp_path):
    callback = keras.callbacks.ModelCheckpoint(
        filepath=tmp_path / "ckpt_{epoch}",
        monitor="loss",
        save_best_only=True,
        save_weights_only=True,
        mode="max",  # the loss goes down
    )
    fit(make("two devices"), epochs=3, callbacks=[callback])
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt_1")


def test_checkpoints_within_an_epoch(tmp_path):
    callback = keras.callbacks.ModelCheckpoint(
        str(tmp_path / "ckpt_{epoch}_{batch}"), save_weights_only=True, save_freq=2
    )
    fit(make("two devices"), callbacks=[callback])  # epochs of 3 batches
    names = {path.name for path in tmp_path.glob("*.h5")}
    assert names == {f"ckpt_{end}.weights.h5" for end in ("1_2", "2_1", "2_3")}


@pytest.mark.parametrize("path", ["m.keras", "m.h5"])
def test_a_whole_model_is_saved_by_the_callback(tmp_path, path):
    model = make("two devices")
    fit(model, callbacks=[keras.callbacks.ModelCheckpoint(tmp_path / path)])
    same(model, keras.models.load_model(tmp_path / path))


def test_the_callback_is_keras_own(tmp_path):
    callback = keras.callbacks.ModelCheckpoint("a.weights.h5", save_weights_only=True)
    assert callback.filepath == "a.weights.h5"
    with pytest.raises(ValueError, match=r"must end in `\.keras`"):
        keras.callbacks.ModelCheckpoint(tmp_path / "ckpt")


@pytest.mark.parametrize(("path", "saved", "loaded"), crossed(["model.keras", "model.h5"], PAIRS))
def test_a_loaded_model_trains_on(tmp_path, path, saved, loaded):
    model = make(saved)
    first = fit(model)
    model.save(tmp_path / path)
    with scope(loaded):
        other = keras.models.load_model(tmp_path / path)
    assert evaluate(other) == pytest.approx(evaluate(model), rel=1e-5)
    if loaded == saved or "two devices" not in (saved, loaded):
        assert first + fit(other) == pytest.approx(unbroken(saved), rel=1e-5)
    else:  # batch normalization has a mean for each replica
        assert fit(other) == pytest.approx(fit_after(make(loaded), model), rel=1e-5)


def fit_after(model, former):
    """Trains a model on from where another one stands."""
    model.set_weights(former.get_weights())
    model.optimizer.build(model.trainable_variables)
    for variable, value in zip(model.optimizer.variables, former.optimizer.variables, strict=True):
        variable.assign(np.asarray(value))
    return fit(model)


@pytest.mark.parametrize(
    ("path", "name"), crossed(["ckpt", "w.weights.h5"], [(name,) for name in STRATEGIES])
)
def test_the_optimizer_goes_on(tmp_path, path, name):
    model = make(name)
    first = fit(model)
    model.save_weights(tmp_path / path)
    other = make(name)
    other.load_weights(tmp_path / path)
    assert int(other.optimizer.iterations.numpy()) == 6
    assert first + fit(other) == pytest.approx(unbroken(name), rel=1e-5)


@pytest.mark.parametrize(
    ("path", "saved", "loaded"),
    crossed(["new/dir/ckpt", "w.weights.h5", "w.h5", "cp-0.25.ckpt"], PAIRS),
)
def test_weights_move_between_strategies(tmp_path, path, saved, loaded):
    model = make(saved)
    fit(model)
    model.save_weights(tmp_path / path)
    other = make(loaded)
    other.load_weights(tmp_path / path)
    same(model, other)


def test_weights_without_an_optimizer(tmp_path):
    model = make(compiled=False)
    model.save_weights(tmp_path / "plain")
    with pytest.warns(UserWarning, match="the saved optimizer has 0 variables"):
        make().load_weights(tmp_path / "plain")
    compiled = make()
    fit(compiled)
    compiled.save_weights(tmp_path / "trained")
    model.load_weights(tmp_path / "trained")
    same(model, compiled)


def test_options_of_keras_2(tmp_path):
    model = make()
    model.save_weights(tmp_path / "a", save_format="tf", options=None)
    model.load_weights(tmp_path / "a", options=None)
    model.save_weights(tmp_path / "a.h5", save_format="h5")
    with pytest.raises(ValueError, match=r"save_format is 'h5', but the path is .*Leave"):
        model.save_weights(tmp_path / "a", save_format="h5")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save_weights(tmp_path / "a.h5", overwrite=False)


def test_no_checkpoint_is_an_error(tmp_path):
    model = make()
    with pytest.raises(ValueError, match=r"got None\. tf\.train\.latest_checkpoint gives None"):
        model.load_weights(tf.train.latest_checkpoint(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match=r"expected the file .*ckpt\.weights\.h5"):
        model.load_weights(tmp_path / "ckpt")
    (tmp_path / "ckpt.index").touch()
    with pytest.raises(FileNotFoundError, match="a checkpoint that TensorFlow wrote"):
        model.load_weights(tmp_path / "ckpt")


def test_an_optimizer_that_does_not_fit_starts_anew(tmp_path):
    import h5py

    model = make()
    fit(model)
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "a") as file:
        names = file["optimizer_weights"].attrs["weight_names"]
        file["optimizer_weights"].attrs["weight_names"] = names[:-1]
    with pytest.warns(UserWarning, match=r"was not restored and starts anew.*\.keras file"):
        other = keras.models.load_model(tmp_path / "m.h5")
    same(model, other)
    assert other.optimizer.iterations.numpy() == 0
    assert not keras.models.load_model(tmp_path / "m.h5", compile=False).compiled


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "m.h5", "prefix"])
def test_a_file_that_is_not_written_to_its_end_leaves_the_former_one(tmp_path, name, monkeypatch):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    path = tmp_path / name

    def save():
        (model.save if name == "m.keras" else model.save_weights)(path)

    save()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def fail(*_, **__):
        raise OSError("no space left")

    # What all of the formats write with.
    monkeypatch.setattr("keras.src.saving.saving_lib._save_state", fail)
    monkeypatch.setattr("keras.src.legacy.saving.legacy_h5_format.save_weights_to_hdf5_group", fail)
    with pytest.raises(OSError, match="no space"):
        save()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
