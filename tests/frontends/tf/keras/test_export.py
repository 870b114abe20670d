"""Keras models in directories: predictions, evaluation and training go on where they were saved."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import spmd
from frontends import tf
from spmd.errors import ExportError
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
ROOT = Path(spmd.__file__).parents[1]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 6)).astype(np.float32)
Y = RNG.integers(0, 3, 24).astype(np.int32)


def scope(count):
    return mirrored(count).scope() if count else tf.distribute.get_strategy().scope()


class Scale(keras.layers.Layer):
    """A layer as TensorFlow's guides write it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.scale = tf.Variable(2.0, name="scale")

    def call(self, inputs):
        return inputs * self.scale


def classifier():
    model = keras.Sequential(
        [
            keras.Input((6,)),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            Scale(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(
        keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    return model


def trained(count=0):
    keras.utils.set_random_seed(0)
    with scope(count):
        model = classifier()
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
    return model


def largest_difference(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return max(float(np.abs(np.asarray(p) - np.asarray(q)).max()) for p, q in pairs)


OBJECTS = {"Scale": Scale}


# ---- The first seed: export, load with or without a scope, evaluate.


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Trained and exported models, by the number of their devices; tests leave them as they are."""
    found = {}

    def get(count=0):
        if count not in found:
            model = trained(count)
            path = str(tmp_path_factory.mktemp("saved") / "saved_model") + "/"
            keras.experimental.export_saved_model(model, path)
            found[count] = model, path, model.evaluate(X, Y, verbose=0)
        return found[count]

    return get


@pytest.mark.parametrize(
    ("before", "after"),
    [(0, 2), *(pytest.param(*pair, marks=pytest.mark.slow) for pair in [(2, 0), (0, 0), (2, 2)])],
)
def test_evaluate_after_loading_is_evaluate_before(saved, before, after):
    model, path, expected = saved(before)
    with scope(after):
        loaded = keras.experimental.load_from_saved_model(path, custom_objects=OBJECTS)
        scores = loaded.evaluate(X, Y, verbose=0)
    assert scores == pytest.approx(expected, abs=1e-6)
    assert largest_difference(loaded.predict(X, verbose=0), model.predict(X, verbose=0)) < 1e-6


def test_a_loaded_model_is_compiled_again_in_another_scope(saved):
    _, path, scores = saved(0)
    with mirrored().scope():
        loaded = keras.experimental.load_from_saved_model(path, OBJECTS)
        loaded.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    assert loaded.evaluate(X, Y, verbose=0) == pytest.approx(scores, abs=1e-6)
    assert len(loaded.fit(X, Y, verbose=0).history["loss"]) == 1


def test_training_goes_on_as_if_nothing_had_happened(tmp_path):
    model = trained()
    model.save(tmp_path / "model")
    loaded = keras.models.load_model(tmp_path / "model", OBJECTS)
    histories = [
        each.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
        for each in (model, loaded)
    ]
    # The optimizer's slots and the seeds of dropout are there, too.
    assert histories[0] == histories[1]


def test_a_loss_scale_goes_on_where_it_was(tmp_path):
    layers = [keras.Input((6,)), keras.layers.Dense(2, dtype="mixed_float16")]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), 64.0), "mse")
    model.fit(X, X[:, :2], verbose=0)
    model.save(tmp_path / "model")
    loaded = keras.models.load_model(tmp_path / "model")
    assert [float(np.sum(v)) for v in loaded.optimizer.variables] == [
        float(np.sum(v)) for v in model.optimizer.variables
    ]
    assert largest_difference(loaded.predict(X, verbose=0), model.predict(X, verbose=0)) < 1e-6


def test_an_optimizer_that_was_never_used_has_no_state(tmp_path):
    model = classifier()
    model.save(tmp_path / "model")
    loaded = keras.models.load_model(tmp_path / "model", OBJECTS)
    assert int(loaded.optimizer.iterations) == 0
    loaded.fit(X, Y, verbose=0)


def test_without_the_optimizer_it_starts_anew(saved, tmp_path):
    keras.models.save_model(saved()[0], tmp_path / "model", include_optimizer=False)
    assert int(keras.models.load_model(tmp_path / "model", OBJECTS).optimizer.iterations) == 0


def test_other_variables_than_the_optimizer_had_are_a_warning(saved, tmp_path):
    model = keras.models.load_model(saved()[1], OBJECTS)
    model.layers[0].trainable = False  # without compiling anew, as Keras wants
    model.save(tmp_path / "model")
    with pytest.warns(UserWarning, match=r"(?s)variables of the optimizer .* starts anew"):
        loaded = keras.models.load_model(tmp_path / "model", OBJECTS)
    assert largest_difference(loaded.predict(X, verbose=0), model.predict(X, verbose=0)) < 1e-6


def test_compiling_may_be_left_out(saved):
    assert not keras.models.load_model(saved()[1], OBJECTS, compile=False).compiled


# ---- Kinds of models.


def functional():
    left, right = keras.Input((6,), name="left"), keras.Input((2,), dtype="int32", name="right")
    embedded = keras.layers.Flatten()(keras.layers.Embedding(10, 4)(right))
    joined = keras.layers.Concatenate()([left, embedded])
    outputs = {"wide": keras.layers.Dense(4)(joined), "narrow": keras.layers.Dense(1)(joined)}
    inputs = {"left": X, "right": (Y[:, None] + [0, 1]).astype(np.int32)}
    return keras.Model({"left": left, "right": right}, outputs), inputs


def lists():
    inputs = [keras.Input((6,)), keras.Input((6,))]
    shared = keras.layers.Dense(2)
    return keras.Model(inputs, [shared(each) for each in inputs]), [X, X + 1]


def text():
    layers = [
        keras.Input((None,), dtype="int32"),
        keras.layers.Embedding(10, 4, mask_zero=True),
        keras.layers.LSTM(3),
    ]
    return keras.Sequential(layers), RNG.integers(0, 10, (5, 7)).astype(np.int32)


def images():
    layers = [
        keras.Input((None, None, 1)),
        keras.layers.Conv2D(2, 3),
        keras.layers.BatchNormalization(),
        keras.layers.GlobalAveragePooling2D(),
    ]
    return keras.Sequential(layers), RNG.normal(size=(3, 9, 8, 1)).astype(np.float32)


def normalized():
    layer = keras.layers.Normalization()
    layer.adapt(X)
    return keras.Sequential([keras.Input((6,)), layer, keras.layers.Dense(1)]), X


def attention():
    inputs = keras.Input((None, 6))
    return keras.Model(inputs, keras.layers.MultiHeadAttention(2, 3)(inputs, inputs)), X.reshape(
        4, 6, 6
    )


def nested():
    inner, _ = lists()
    inputs = keras.Input((6,))
    outputs = keras.layers.Dense(1)(keras.layers.Add()(inner([inputs, inputs])))
    return keras.Model(inputs, outputs), X


def mixed():
    layers = [
        keras.Input((6,)),
        keras.layers.Dense(4, dtype="mixed_bfloat16"),
        keras.layers.Dense(2, dtype="float32"),
    ]
    return keras.Sequential(layers), X


KINDS = [functional, text]
MORE = [
    pytest.param(kind, marks=pytest.mark.slow)
    for kind in (lists, normalized, nested, mixed, images, attention)
]


@pytest.mark.parametrize("kind", KINDS + MORE)
def test_every_kind_of_model_predicts_the_same(tmp_path, kind):
    model, inputs = kind()
    expected = model(inputs, training=False)
    tf.saved_model.save(model, tmp_path / "model")
    program = tf.saved_model.load(tmp_path / "model")
    assert largest_difference(program(inputs), expected) < 1e-6
    loaded = keras.models.load_model(tmp_path / "model")
    assert largest_difference(loaded(inputs, training=False), expected) < 1e-6
    assert [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]


@keras.utils.register_keras_serializable("tests")
class Subclassed(keras.Model):
    def __init__(self, units=2, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.first, self.last = keras.layers.Dense(4), keras.layers.Dense(units)

    def call(self, inputs):
        return {"scores": self.last(self.first(inputs))}

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def test_a_subclassed_model(tmp_path):
    model = Subclassed(3)
    expected = model(X)["scores"]
    model.save(tmp_path / "model")
    program = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    assert largest_difference(program(X[:5])["scores"], expected[:5]) < 1e-6
    loaded = keras.models.load_model(tmp_path / "model")
    assert largest_difference(loaded(X)["scores"], expected) < 1e-6


class TwoArguments(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, first, second):
        return self.dense(first) + self.dense(second)


def test_a_model_whose_call_takes_two_arguments(tmp_path):
    model = TwoArguments()
    expected = model(X, X + 1)
    one = tf.TensorSpec([None, 6])
    keras.experimental.export_saved_model(model, tmp_path / "model", input_signature=(one, one))
    program = tf.saved_model.load(tmp_path / "model")
    assert largest_difference(program(X, X + 1), expected) < 1e-6


class WithoutConfiguration(keras.Model):
    def __init__(self, dense):
        super().__init__()
        self.dense = dense

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        raise NotImplementedError("no configuration")


def test_a_model_without_a_configuration_only_predicts(tmp_path):
    model = WithoutConfiguration(keras.layers.Dense(2))
    expected = model(X)
    with pytest.warns(UserWarning, match="for predictions only: no configuration"):
        model.save(tmp_path / "model")
    assert largest_difference(tf.saved_model.load(tmp_path / "model")(X), expected) < 1e-6
    with pytest.raises(
        spmd.errors.ExportError, match=r"no Keras model .* no configuration\. Predict with"
    ):
        keras.models.load_model(tmp_path / "model")


@keras.utils.register_keras_serializable("tests")
class Forgetful(keras.Model):
    """Makes a layer only when a flag is set that its configuration does not hold."""

    def __init__(self, deep=False, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)
        self.deeper = keras.layers.Dense(2) if deep else None

    def call(self, inputs):
        outputs = self.dense(inputs)
        return outputs if self.deeper is None else self.deeper(outputs)

    def get_config(self):
        return {}


def test_a_configuration_that_makes_another_model_is_refused(tmp_path):
    model = Forgetful(deep=True)
    model(X)
    model.save(tmp_path / "model")
    with pytest.raises(spmd.errors.ExportError, match=r"(?s)variables of .* Expected: .* Found"):
        keras.models.load_model(tmp_path / "model")


def test_inputs_may_be_given(tmp_path):
    model = Subclassed()
    model(X)
    keras.experimental.export_saved_model(
        model, tmp_path / "model", input_signature=[tf.TensorSpec([None, 6], tf.int32)]
    )
    program = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    assert str(program.inputs[0]) == "inputs: int32[None, 6]"


def test_a_fixed_number_of_rows_stays_fixed(tmp_path):
    model = keras.Sequential([keras.Input(batch_shape=(4, 6)), keras.layers.Dense(1)])
    model.save(tmp_path / "model")
    program = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    assert str(program.inputs[0]) == "inputs: float32[4, 6]"


class AsksForRows(keras.layers.Layer):
    def call(self, inputs):
        return inputs if inputs.shape[0] > 3 else 2 * inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def test_a_layer_that_needs_the_number_of_rows_is_an_error_with_the_remedy(tmp_path):
    model = keras.Sequential([keras.Input((6,)), AsksForRows()])
    with pytest.raises(
        spmd.errors.ExportError, match=r"(?s)inputs: float32\[None, 6\].*batch_shape="
    ):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_draws_differ_from_call_to_call(tmp_path):
    class Noise(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.seeds = keras.random.SeedGenerator(1)

        def call(self, inputs):
            return inputs + keras.random.normal((6,), seed=self.seeds)

    model = keras.Sequential([keras.Input((6,)), Noise()])
    model.save(tmp_path / "model")
    program = tf.saved_model.load(tmp_path / "model")
    first, second = program(X), program(X)
    assert largest_difference(first, second) > 0.1
    assert largest_difference(first, model(X)) < 1e-6


# ---- Which files and which directories.


def test_files_of_keras_are_still_written(tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.save(tmp_path / "model.keras")
    keras.models.save_model(model, tmp_path / "again.keras")
    for name in ("model.keras", "again.keras"):
        loaded = keras.models.load_model(tmp_path / name)
        assert largest_difference(loaded(X), model(X)) < 1e-6


def test_save_format_writes_a_directory_under_any_name(tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.save(tmp_path / "model.keras", save_format="tf")
    assert tf.saved_model.contains_saved_model(tmp_path / "model.keras")
    assert largest_difference(keras.models.load_model(tmp_path / "model.keras")(X), model(X)) < 1e-6


def test_overwrite_may_be_forbidden(tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.save(tmp_path / "model")
    with pytest.raises(FileExistsError, match="overwrite=False"):
        model.save(tmp_path / "model", overwrite=False)


def test_a_directory_of_tensorflow_says_what_to_do(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(
        spmd.errors.ExportError, match=r"SavedModel of TensorFlow.*model.save\('model.keras'\)"
    ):
        keras.models.load_model(tmp_path)


def test_bytecode_is_refused_unless_asked_for(tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Lambda(lambda x: x * 2)])
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"unsafe|safe_mode"):
        keras.models.load_model(tmp_path / "model")
    loaded = keras.models.load_model(tmp_path / "model", safe_mode=False)
    assert largest_difference(loaded(X), X * 2) < 1e-6
    # The program has no bytecode.
    assert largest_difference(tf.saved_model.load(tmp_path / "model")(X), X * 2) < 1e-6


def test_a_model_that_is_not_built_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(spmd.errors.ExportError, match=r"no weights yet.*model\.build"):
        keras.Sequential([keras.layers.Dense(1)]).save(tmp_path / "model")


def test_only_models_are_saved(tmp_path):
    with pytest.raises(TypeError, match="Only Keras models"):
        tf.saved_model.save({"a": 1}, tmp_path / "model")


def test_signatures_are_saved_beside_the_call_of_the_model(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    names = tf.constant(["low", "high"])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.uint8, name="pixels")])
    def serve(pixels):
        return {"score": model(tf.cast(pixels, tf.float32) / 255)}

    @tf.function
    def classify(x):
        return tf.gather(names, tf.cast(model(x)[:, 0] > 0, tf.int32))

    signatures = {
        "serving_default": serve,
        "classify": classify.get_concrete_function(tf.TensorSpec([None, 2])),
    }
    tf.saved_model.save(model, tmp_path / "model", signatures=signatures)
    loaded = tf.saved_model.load(tmp_path / "model")
    assert sorted(loaded.signatures) == ["classify", "serving_default"]
    pixels = np.array([[0, 255], [255, 51]], np.uint8)
    x = pixels.astype(np.float32) / 255
    expected = np.asarray(model(x))
    np.testing.assert_allclose(
        loaded.signatures["serving_default"](pixels=pixels)["score"], expected, rtol=1e-5
    )
    chosen = loaded.signatures["classify"](x=x)["output_0"]
    assert chosen.numpy().tolist() == [b"high" if one > 0 else b"low" for one in expected[:, 0]]
    np.testing.assert_allclose(loaded(x), expected, rtol=1e-5)
    again = keras.models.load_model(tmp_path / "model")
    np.testing.assert_allclose(again(x), expected, rtol=1e-5)


def test_a_signature_that_takes_texts_is_left_out_with_a_warning(tmp_path):
    """Scripts that train write it last: what they trained is saved."""
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def serve(images):
        return model(tf.map_fn(tf.io.decode_jpeg, images, fn_output_signature=tf.uint8))

    with pytest.warns(UserWarning, match=r"'serving_default' takes the texts 'images'"):
        tf.saved_model.save(model, tmp_path / "model", signatures=serve)
    loaded = tf.saved_model.load(tmp_path / "model")
    assert not loaded.signatures
    np.testing.assert_allclose(loaded(np.ones((1, 2))), model(np.ones((1, 2))), rtol=1e-5)


def test_signatures_are_functions_with_a_declaration(tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    with pytest.raises(TypeError, match=r"must be a tf\.function with an input_signature"):
        tf.saved_model.save(model, tmp_path / "model", signatures={"serve": model})


# ---- A SavedModel of TensorFlow.

_WRITE = """
import sys
import numpy as np
from frontends import tf

strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            tf.keras.layers.Dense(8, activation="relu"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.Dense(3),
        ]
    )
    model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(24, 6)).astype(np.float32)
model.fit(x, x[:, :3], batch_size=8, verbose=0)
model.export(sys.argv[1] + "/model", format="tf_saved_model", verbose=False)
np.savez(sys.argv[1] + "/data.npz", x=x[:7], y=model.predict(x[:7], verbose=0))
"""
_READ = """
import sys
import numpy as np
import tensorflow as tf

data = np.load(sys.argv[1] + "/data.npz")
serve = tf.saved_model.load(sys.argv[1] + "/model").signatures["serving_default"]
(name,) = serve.structured_input_signature[1]
(output,) = serve(**{name: tf.constant(data["x"])}).values()
print(float(np.abs(output.numpy() - data["y"]).max()))
"""


def with_tensorflow():
    """The Pythons that write and read TensorFlow's own SavedModels, if there are any."""
    writer = os.environ.get("JAXTRIBUTE_SAVEDMODEL_PYTHON")
    if writer is None and importlib.util.find_spec("tensorflow") is not None:
        writer = sys.executable
    if writer is None:
        pytest.skip(
            'TensorFlow is not installed beside JAX: pip install "jaxtribute[savedmodel]", or name a '
            "Python that has both in JAXTRIBUTE_SAVEDMODEL_PYTHON"
        )
    peers = ROOT / ".venv-peers" / "bin" / "python"
    return writer, str(peers) if peers.exists() else writer


@pytest.mark.slow
def test_tensorflow_serves_what_export_writes(tmp_path, fresh_environment):
    environment = fresh_environment | {
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    }
    for python, code in zip(with_tensorflow(), (_WRITE, _READ), strict=True):
        done = subprocess.run(
            [python, "-c", code, str(tmp_path)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 1e-5


def test_a_save_of_ones_own_gets_every_option_by_name(tmp_path):
    class Model(tf.keras.Model):
        def save(self, filepath, **kwargs):
            self.saved = filepath, kwargs

    model = Model()
    tf.keras.models.save_model(model, tmp_path, False, options=3, save_traces=False)
    path, options = model.saved
    assert path == tmp_path
    assert (options["overwrite"], options["options"], options["save_traces"]) == (False, 3, False)


def test_without_tensorflow_the_error_of_export_says_what_to_write(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    with pytest.raises(ImportError, match=r"tf\.saved_model\.save\(model, '.*model'\)"):
        model.export(tmp_path / "model")
    with pytest.raises(ValueError, match="Unrecognized format"):
        model.export(tmp_path / "model", format="other")


@pytest.mark.parametrize("declared", [False, True])
def test_a_model_of_texts_is_no_directory_but_a_file(tmp_path, declared):
    texts = np.array([["a b"], ["b c"]])
    vectorize = tf.keras.layers.TextVectorization(output_sequence_length=4)
    vectorize.adapt(texts[:, 0])
    layers = [vectorize, tf.keras.layers.Embedding(10, 4), tf.keras.layers.Flatten()]
    inputs = [tf.keras.Input((1,), dtype=tf.string)] if declared else []
    model = tf.keras.Sequential([*inputs, *layers])
    expected = model.predict(texts, verbose=0)
    for save in (model.save, lambda path: tf.saved_model.save(model, path)):
        with pytest.raises(ExportError, match=r"model\.keras"):
            save(tmp_path / "directory")
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(texts, verbose=0), expected)
