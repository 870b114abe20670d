"""Models that take texts, trained, evaluated and called; the numbers are TensorFlow 2.21's."""

import logging

import numpy as np
import pytest

from frontends import tf

TEXTS = np.array(["a good film", "bad bad film", "good good", "a bad one indeed it was"])
Y = np.array([1.0, 0.0, 1.0, 0.0], np.float32)
# By output_sequence_length: losses of two epochs and of the data behind them, and predictions for QUERIES.
RECORDED = {
    5: ([0.25858530, 0.25005877], 0.24328817, [0.4344639, 0.3999273]),
    None: ([0.25890923, 0.24890576], 0.24038714, [0.4362966, 0.40074223]),
}
QUERIES = ["good film", "a bad one a bad one a bad one"]


def classifier(length, strategy=None):
    vectorize = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=length)
    vectorize.adapt(TEXTS)
    with (strategy or tf.distribute.get_strategy()).scope():
        model = tf.keras.Sequential(
            [
                vectorize,
                tf.keras.layers.Embedding(
                    20, 4, embeddings_initializer=tf.keras.initializers.Constant(0.1)
                ),
                tf.keras.layers.GlobalAveragePooling1D(),
                tf.keras.layers.Dense(1, kernel_initializer="ones"),
            ]
        )
        model.compile("sgd", "mse")
    return model


def batches():
    return tf.data.Dataset.from_tensor_slices((TEXTS, Y)).batch(2)


@pytest.mark.parametrize(("length", "devices"), [(5, 2), (None, 1), (None, 2)])
def test_a_model_splits_the_texts_that_it_is_given(tmp_path, length, devices):
    losses, after, predicted = RECORDED[length]
    names = [f"cpu:{index}" for index in range(devices)]
    model = classifier(length, tf.distribute.MirroredStrategy(names))
    history = model.fit(batches(), epochs=2, verbose=0).history
    np.testing.assert_allclose(history["loss"], losses, rtol=1e-6)
    np.testing.assert_allclose(model.evaluate(batches(), verbose=0), after, rtol=1e-6)
    found = model.predict(tf.constant(QUERIES), verbose=0)
    np.testing.assert_allclose(found.ravel(), predicted, rtol=1e-5)
    model.summary(print_fn=lambda *_, **__: None)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(tf.constant(QUERIES), verbose=0), found, rtol=1e-6)


def test_arrays_are_padded_in_batches():
    model, same = classifier(None), classifier(None)
    loss = model.fit(tf.constant(TEXTS), Y, batch_size=2, shuffle=False, verbose=0).history["loss"]
    assert loss == same.fit(batches(), verbose=0).history["loss"]


def test_a_width_that_texts_decide_is_warned_of_once(caplog):
    with caplog.at_level(logging.WARNING):
        model = classifier(None)
        for _ in range(2):
            model.predict(tf.constant(TEXTS), verbose=0)
    (message,) = [one.getMessage() for one in caplog.records if "_text_batches" in one.name]
    assert "Set output_sequence_length" in message


def features(rows=slice(None)):
    texts = {"text": TEXTS, "kind": np.array(["x", "y", "z", "x"])}
    number = np.arange(4, dtype=np.float32)[rows, None]
    return {**{k: tf.constant(v[rows, None]) for k, v in texts.items()}, "number": number}


def test_layers_of_many_inputs_take_their_own_texts():
    weigh = tf.keras.layers.TextVectorization(max_tokens=20, output_mode="tf_idf")
    weigh.adapt(TEXTS)
    count = tf.keras.layers.TextVectorization(output_sequence_length=3, vocabulary=["a"])
    text, kind = (tf.keras.Input((1,), dtype="string", name=name) for name in ("text", "kind"))
    number = tf.keras.Input((1,), name="number")
    parts = [
        weigh(text),
        tf.keras.layers.StringLookup(vocabulary=["x", "y"], output_mode="one_hot")(kind),
        number,
        tf.keras.layers.Rescaling(1.0)(count(text)),
        tf.keras.layers.Rescaling(1.0)(tf.keras.layers.Hashing(3)(kind)),
    ]
    outputs = tf.keras.layers.Concatenate()(parts)
    model = tf.keras.Model({"text": text, "kind": kind, "number": number}, outputs)
    found = model.predict(features(), verbose=0)
    np.testing.assert_allclose(found[:, :9], weigh(TEXTS), rtol=1e-6)
    assert found[:, 9:13].tolist() == [[0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 2], [0, 1, 0, 3]]
    np.testing.assert_array_equal(found[:, 13:16], count(TEXTS))
    hashed = tf.keras.layers.Hashing(3)(np.array(["x", "y", "z", "x"]))
    np.testing.assert_array_equal(found[:, 16], hashed)
    more = {**features(), "zone": tf.constant(TEXTS)}  # which the model does not take
    with pytest.warns(UserWarning, match="structure of `inputs`"):
        np.testing.assert_array_equal(model.predict(more, verbose=0), found)
    again = tf.keras.Model({"text": text, "kind": kind, "number": number}, model(model.input))
    np.testing.assert_array_equal(again.predict(features(), verbose=0), found)
    # A model that is called takes them, too.
    np.testing.assert_allclose(model(features(slice(0, 2))), found[:2], rtol=1e-6)


def sums(layers):
    text, number = tf.keras.Input((1,), dtype="string"), tf.keras.Input((1,))
    parts = [*(tf.keras.layers.Rescaling(1.0)(layer(text)) for layer in layers), number]
    return tf.keras.Model([text, number], tf.keras.layers.Concatenate()(parts))


@pytest.mark.parametrize("use", ["predict", "call"])
def test_a_model_of_the_same_layer_may_be_used_in_between(use):
    other, same = (
        tf.keras.layers.TextVectorization(vocabulary=words, output_sequence_length=1)
        for words in (["x", "a"], ["x", "y", "a"])
    )
    outer, inner = sums([other, same]), sums([same])
    texts, numbers = np.array([["a"], ["a"], ["a"]]), np.zeros((3, 1), np.float32)

    class Between(tf.keras.callbacks.Callback):
        def on_predict_begin(self, logs=None):
            one = [tf.constant(texts), numbers]
            found = inner.predict(one, verbose=0) if use == "predict" else np.asarray(inner(one))
            assert found[:, 0].tolist() == [4, 4, 4]

    found = outer.predict([tf.constant(texts), numbers], verbose=0, callbacks=[Between()])
    assert found[:, :2].tolist() == [[3, 4]] * 3


def test_models_inside_of_models_take_texts():
    vectorize = tf.keras.layers.TextVectorization(vocabulary=["a"], output_sequence_length=2)
    inner = tf.keras.Sequential([vectorize, tf.keras.layers.Rescaling(2.0)])
    model = tf.keras.Sequential([inner, tf.keras.layers.Rescaling(1.0)])
    assert model.predict(tf.constant(["a b", "a"]), verbose=0).tolist() == [[4, 2], [4, 0]]


LINES = ["the cat sat", "a dog", "the dog sat down here", "cat"]
TARGETS = np.array([0.0, 1.0, 1.0, 0.0])


def vectorized(length=4, tokens=20, **options):
    layer = tf.keras.layers.TextVectorization(
        max_tokens=tokens, output_sequence_length=length, **options
    )
    layer.adapt(LINES)
    return layer


def embedding(size, width, value):
    start = tf.keras.initializers.Constant(value)
    return tf.keras.layers.Embedding(size, width, embeddings_initializer=start)


def mean_of_embeddings(shape=()):
    pool = tf.keras.layers.GlobalAveragePooling1D()
    text = tf.keras.Input(shape, dtype="string")
    return tf.keras.Sequential([text, vectorized(), embedding(20, 3, 0.1), pool])


def output():
    return tf.keras.layers.Dense(1, kernel_initializer="ones")


def in_sequential():
    return tf.keras.Sequential(
        [tf.keras.Input((1,), dtype="string"), mean_of_embeddings((1,)), output()]
    )


def in_functional():
    text = tf.keras.Input((), dtype="string")
    return tf.keras.Model(text, output()(mean_of_embeddings()(text)))


def in_sequential_without_input():
    return tf.keras.Sequential([mean_of_embeddings((1,)), output()])


def towers():
    texts = {name: tf.keras.Input((1,), dtype="string", name=name) for name in "ab"}
    parts = [
        tf.keras.Sequential(
            [
                tf.keras.Input((1,), dtype="string"),
                tf.keras.layers.StringLookup(vocabulary=words),
                embedding(20, 3, value),
                tf.keras.layers.Flatten(),
            ]
        )(text)
        for text, words, value in zip(
            texts.values(), ([LINES[0], LINES[1], LINES[3]], ["x", "y"]), (0.1, 0.2), strict=True
        )
    ]
    return tf.keras.Model(texts, output()(tf.keras.layers.Concatenate()(parts)))


def of_two_widths(**options):
    text = tf.keras.Input((), dtype="string")
    parts = [
        tf.keras.layers.GlobalAveragePooling1D()(embedding(size, width, value)(layer(text)))
        for layer, size, width, value in (
            (vectorized(None), 20, 3, 0.1),
            (vectorized(None, 40, **options), 40, 2, 0.2),
        )
    ]
    return tf.keras.Model(text, output()(tf.keras.layers.Concatenate()(parts)))


# Predictions after two epochs in batches of two. TensorFlow 2.21 fails without an Input, which TensorFlow 2.15 needs not.
NESTED = [0.3169, 0.3246, 0.3264, 0.3150]


@pytest.mark.filterwarnings("ignore::spmd.errors.RecompilationWarning")
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (in_sequential, NESTED),
        (in_functional, NESTED),
        (in_sequential_without_input, NESTED),
        (towers, [0.7167, 0.8796, 0.8806, 0.7187]),
        (lambda: of_two_widths(ngrams=2), [0.6637, 0.6737, 0.6831, 0.6395]),
        (lambda: of_two_widths(split="character"), [0.6653, 0.6706, 0.6817, 0.6425]),
    ],
    ids=["sequential", "functional", "no_input", "towers", "ngrams", "characters"],
)
def test_models_with_texts_inside_of_models_train_as_in_tensorflow(build, expected, devices):
    with tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)]).scope():
        model = build()
        model.compile("sgd", "mse")
    lines = tf.constant(LINES) if build is not in_sequential else tf.constant(LINES)[:, None]
    if build is towers:
        lines = {"a": lines[:, None], "b": tf.constant([["x"], ["y"], ["z"], ["x"]])}
    batches = tf.data.Dataset.from_tensor_slices((lines, TARGETS)).batch(2)
    model.fit(batches, epochs=2, verbose=0)
    found = model.predict(batches, verbose=0)
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-4)
    errors = np.square(found.ravel() - TARGETS)
    np.testing.assert_allclose(model.evaluate(batches, verbose=0), errors.mean(), rtol=1e-5)
    again = model.predict(lines, batch_size=2, verbose=0)
    np.testing.assert_allclose(again, found, rtol=1e-5)


def test_inputs_in_a_list_whose_widths_texts_decide():
    texts = [tf.keras.Input((), dtype="string", name=name) for name in "ab"]
    layers = [vectorized(None) for _ in texts]
    parts = [
        tf.keras.layers.Rescaling(1.0)(layer(text))
        for layer, text in zip(layers, texts, strict=True)
    ]
    model = tf.keras.Model(texts, parts)
    for lines in [(LINES[:2], LINES[2:]), (LINES[2:], LINES[:2]), (LINES[:2], LINES[:2])]:
        found = model.predict([tf.constant(one) for one in lines], verbose=0)
        for one, layer, given in zip(found, layers, lines, strict=True):
            np.testing.assert_array_equal(one, layer(given))
