"""Weights and models in files: TensorFlow's paths, and what is saved under one strategy loads under others."""

import contextlib
import functools
import shutil

import h5py
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


def slow(*values):
    """A case that shows with other strategies what a quick one shows."""
    return pytest.param(*values, marks=pytest.mark.slow)


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


def evaluate(model):
    return model.evaluate(X, Y, batch_size=8, verbose=0)


def same(weights, model):
    for a, b in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


MODELS = ["model.keras", "model.h5"]
WEIGHTS = ["new/dir/ckpt", "w.weights.h5", "w.h5", "cp-0.25.ckpt"]


class Trained:
    """A model that was trained for two epochs, saved in all formats, and trained on."""

    def __init__(self, name, folder):
        self.folder = folder
        self.model = make(name)
        fit(self.model)
        self.weights, self.slots = self.model.get_weights(), self._slots()
        self.scores = evaluate(self.model)
        for path in MODELS:
            self.model.save(folder / path)
        for path in WEIGHTS:
            self.model.save_weights(folder / path)
        self.rest = fit(self.model)

    def _slots(self):
        return [np.array(variable) for variable in self.model.optimizer.variables]

    def losses_after(self, former):
        """The losses of two epochs of this strategy from where another one's training was saved."""
        self.model.set_weights(former.weights)
        for variable, value in zip(self.model.optimizer.variables, former.slots, strict=True):
            variable.assign(value)
        return fit(self.model)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Trained models by strategy, for all tests: one compilation each."""
    return functools.cache(lambda name: Trained(name, tmp_path_factory.mktemp("trained")))


@pytest.fixture(scope="module", params=["two devices", *map(slow, ["none", "one device"])])
def checkpointed(request, tmp_path_factory):
    """A folder that callbacks of one training of three epochs saved to, and the weights at its end."""
    folder = tmp_path_factory.mktemp("checkpointed")
    callback = keras.callbacks.ModelCheckpoint
    best = {"monitor": "loss", "save_best_only": True, "mode": "max"}  # the loss goes down
    model = make(request.param)
    fit(
        model,
        epochs=3,
        callbacks=[
            callback(str(folder / "dir" / "ckpt_{epoch}"), save_weights_only=True),
            callback(filepath=folder / "best" / "ckpt_{epoch}", save_weights_only=True, **best),
            callback(str(folder / "often/{epoch}_{batch}"), save_weights_only=True, save_freq=2),
            callback(folder / "m.keras"),
        ],
    )
    weights = model.get_weights()
    # Keras forgets the optimizer of what it saved as .h5: a .keras file after that has another one.
    fit(model, epochs=1, callbacks=[callback(folder / "m.h5")])
    return folder, weights, model.get_weights()


def test_checkpoints_of_each_epoch(checkpointed):
    folder, weights, _ = checkpointed
    names = {path.name for path in (folder / "dir").iterdir()}
    assert names == {"checkpoint", *(f"ckpt_{epoch}.weights.h5" for epoch in (1, 2, 3))}
    latest = tf.train.latest_checkpoint(folder / "dir")
    assert latest == str(folder / "dir" / "ckpt_3")
    other = make()
    other.load_weights(latest).expect_partial().assert_existing_objects_matched()
    same(weights, other)


def test_only_the_best_is_saved(checkpointed):
    folder = checkpointed[0] / "best"
    assert tf.train.latest_checkpoint(folder) == str(folder / "ckpt_1")


def test_checkpoints_within_an_epoch(checkpointed):
    names = {path.name for path in (checkpointed[0] / "often").glob("*.h5")}
    assert names == {f"{end}.weights.h5" for end in ("1_2", "2_1", "2_3", "3_2")}  # of 3 batches


def test_a_whole_model_is_saved_by_the_callback(checkpointed):
    folder, *weights = checkpointed
    for path, expected in zip(("m.keras", "m.h5"), weights, strict=True):
        same(expected, keras.models.load_model(folder / path))


def test_the_callback_is_keras_own(tmp_path):
    callback = keras.callbacks.ModelCheckpoint("a.weights.h5", save_weights_only=True)
    assert callback.filepath == "a.weights.h5"
    with pytest.raises(ValueError, match=r"must end in `\.keras`"):
        keras.callbacks.ModelCheckpoint(tmp_path / "ckpt.weights.json")


@pytest.mark.parametrize(
    ("path", "saved", "loaded"),
    [
        ("model.keras", "two devices", "none"),
        ("model.h5", "none", "two devices"),
        *(slow("model.keras", *pair) for pair in [("none", "two devices"), ("none", "none")]),
        *(slow("model.h5", "two devices", name) for name in STRATEGIES),
    ],
)
def test_a_loaded_model_trains_on(trained, path, saved, loaded):
    former = trained(saved)
    with scope(loaded):
        other = keras.models.load_model(former.folder / path)
    assert evaluate(other) == pytest.approx(former.scores, rel=1e-5)
    # Batch normalization has a mean for each replica: other losses than those of the same strategy.
    rest = former.rest if loaded == saved else trained(loaded).losses_after(former)
    assert fit(other) == pytest.approx(rest, rel=1e-5)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("new/dir/ckpt", "two devices"),
        ("w.weights.h5", "none"),
        *(slow(path, "one device") for path in ("new/dir/ckpt", "w.weights.h5")),
        slow("new/dir/ckpt", "none"),
        slow("w.weights.h5", "two devices"),
    ],
)
def test_the_optimizer_goes_on(trained, path, name):
    former, other = trained(name), make(name)
    other.load_weights(former.folder / path)
    assert int(other.optimizer.iterations.numpy()) == 6
    assert fit(other) == pytest.approx(former.rest, rel=1e-5)


@pytest.mark.parametrize("path", WEIGHTS)
@pytest.mark.parametrize(
    ("saved", "loaded"),
    [("none", "two devices"), ("two devices", "none"), slow("two devices", "one device")],
)
def test_weights_move_between_strategies(trained, path, saved, loaded):
    other = make(loaded)
    other.load_weights(trained(saved).folder / path)
    same(trained(saved).weights, other)


def test_weights_without_an_optimizer(tmp_path, trained):
    model = make(compiled=False)
    model.save_weights(tmp_path / "plain")
    with pytest.warns(UserWarning, match="the saved optimizer has 0 variables"):
        make().load_weights(tmp_path / "plain")
    model.load_weights(trained("none").folder / "w.weights.h5")
    same(trained("none").weights, model)


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
    with pytest.raises(ValueError, match=r"got None\. tf\.train\.latest_checkpoint returns None"):
        model.load_weights(tf.train.latest_checkpoint(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match=r"expected the file .*ckpt\.weights\.h5"):
        model.load_weights(tmp_path / "ckpt")
    (tmp_path / "ckpt.index").touch()
    with pytest.raises(FileNotFoundError, match="a checkpoint that TensorFlow wrote"):
        model.load_weights(tmp_path / "ckpt")


def test_an_optimizer_that_does_not_fit_starts_anew(tmp_path, trained):
    shutil.copy(trained("none").folder / "model.h5", tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "a") as file:
        names = file["optimizer_weights"].attrs["weight_names"]
        file["optimizer_weights"].attrs["weight_names"] = names[:-1]
    with pytest.warns(UserWarning, match=r"was not restored and starts anew.*\.keras file"):
        other = keras.models.load_model(tmp_path / "m.h5")
    same(trained("none").weights, other)
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


def test_a_callback_saves_whole_models_as_directories(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    save = tf.keras.callbacks.ModelCheckpoint(filepath=tmp_path / "ckpt")
    model.fit(np.ones((4, 2)), np.ones(4), verbose=0, callbacks=[save])
    loaded = tf.keras.models.load_model(tmp_path / "ckpt")
    np.testing.assert_allclose(loaded.predict(np.ones((1, 2))), model.predict(np.ones((1, 2))))


@pytest.mark.parametrize("kind", ["store", "disk"])
def test_models_and_weights_go_to_a_url_and_back(bucket, tmp_path, kind):
    bucket = bucket if kind == "store" else f"file://{tmp_path}"
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.compile("adam", "mse")
    x, y = np.ones((8, 3), np.float32), np.ones((8, 2), np.float32)
    save = tf.keras.callbacks.ModelCheckpoint
    callbacks = [
        save(f"{bucket}/prefix/ckpt_{{epoch}}", save_weights_only=True),
        save(f"{bucket}/whole/model_{{epoch}}.keras"),
        save(f"{bucket}/best.weights.h5", "loss", save_best_only=True, save_weights_only=True),
        save(f"{bucket}/saved_model"),
        tf.keras.callbacks.CSVLogger(f"{bucket}/log.csv"),
    ]
    model.fit(x, y, epochs=2, verbose=0, callbacks=callbacks)
    model.save(f"{bucket}/old.h5")

    def check(other) -> None:
        for value, expected in zip(other.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(value, expected)

    latest = tf.train.latest_checkpoint(f"{bucket}/prefix")
    assert latest == f"{bucket.removeprefix('file://')}/prefix/ckpt_2"
    for name in ("whole/model_2.keras", "saved_model", "old.h5"):
        check(tf.keras.models.load_model(f"{bucket}/{name}"))
    for path in (latest, f"{bucket}/best.weights.h5"):
        other = tf.keras.models.clone_model(model)
        other.compile("adam", "mse")
        other.load_weights(path)
        check(other)
    assert tf.io.read_file(f"{bucket}/log.csv").startswith(b"epoch,loss")
    with pytest.raises(FileExistsError):
        model.save(f"{bucket}/saved_model", overwrite=False)
    with pytest.raises(FileNotFoundError, match="There is no checkpoint"):
        model.load_weights(f"{bucket}/none")
