"""Exports of estimators: programs that serve what the model function predicts."""

import logging
import os
import shutil

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.export.writing import timestamped
from spmd.errors import ExportError
from tests.frontends.tf.estimator.models import X, data, linear

v1 = tf.compat.v1
e = tf.estimator


def receive():
    x = tf.placeholder(tf.float32, [None, 1])
    return e.export.TensorServingInputReceiver(x, x)


def by_name(**options):
    """A model function of a dict of features, and what its export says."""

    def model_fn(features, labels, mode):
        kernel = v1.get_variable("kernel", [1], initializer=tf.ones_initializer())
        fields = {name: make(features, kernel) for name, make in options.items()}
        if "predictions" not in fields:
            fields["predictions"] = {"y": features["x"] * kernel}
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return e.EstimatorSpec(mode, loss=tf.reduce_sum(kernel), train_op=train_op, **fields)

    return model_fn


def trained(model_fn, folder):
    rows = tf.data.Dataset.from_tensors({"x": X})
    return e.Estimator(model_fn, folder).train(lambda: rows.repeat(), steps=1)


def features(**shapes):
    def receive():
        made = {name: tf.placeholder(*args) for name, args in shapes.items()}
        return e.export.ServingInputReceiver(made, made)

    return receive


X_ALONE = features(x=(tf.float32, [None, 1]))


@pytest.fixture
def exported(tmp_path):
    """Exports a model function, and gives the signatures."""

    def exported(model_fn, receive=X_ALONE):
        path = trained(model_fn, tmp_path).export_saved_model(tmp_path / "exports", receive)
        return tf.saved_model.load(path).signatures

    return exported


def test_an_export_that_drops_or_draws_does_so_anew_in_each_call(exported):
    serve = exported(
        by_name(
            predictions=lambda features, kernel: {
                "y": tf.nn.dropout(features["x"] * kernel, rate=0.5),
                "by_layer": tf.layers.dropout(features["x"], 0.5, training=tf.constant(True)),
            }
        )
    )["serving_default"]
    for rows in (1, 100):
        assert serve(x=np.ones([rows, 1], np.float32))["y"].shape == (rows, 1)
    first, second = (serve(x=np.ones([100, 1], np.float32)) for _ in range(2))
    for name in ("y", "by_layer"):
        assert set(np.asarray(first[name]).ravel().tolist()) == {0, 2}
        assert (np.asarray(first[name]) != np.asarray(second[name])).any()


def test_an_export_gives_texts_back(exported):
    text = features(x=(tf.float32, [None, 1]), name=(tf.string, [None]))
    model_fn = by_name(
        predictions=lambda features, kernel: {
            "y": features["x"] * kernel,
            "name": tf.expand_dims(features["name"], 1) if "name" in features else kernel,
        }
    )
    serve = exported(model_fn, text)["serving_default"]
    found = serve(x=np.ones([2, 1], np.float32), name=["Bern", "Zürich"])
    assert found["name"].tolist() == [[b"Bern"], ["Zürich".encode()]]
    assert [one.dtype for one in serve.outputs] == ["string", "float32"]


def test_an_export_serves_what_predict_gives(tmp_path):
    estimator = e.Estimator(linear, tmp_path / "model", params={"rate": 0.1})
    estimator.train(data(10))
    path = estimator.export_saved_model(tmp_path / "exports", receive)
    assert isinstance(path, bytes)
    assert os.listdir(tmp_path / "exports") == [os.path.basename(path.decode())]
    rows = lambda: tf.data.Dataset.from_tensors(X)  # noqa: E731
    expected = np.stack([row["y"] for row in estimator.predict(rows)])
    shutil.rmtree(tmp_path / "model")
    serve = tf.saved_model.load(path).signatures["serving_default"]
    for count in (8, 3):
        found = serve(input=X[:count])
        np.testing.assert_allclose(found["y"], expected[:count], rtol=1e-6)
        np.testing.assert_array_equal(found["x"], X[:count])


def test_one_output_is_the_default(exported):
    signatures = exported(
        by_name(export_outputs=lambda f, w: {"a": e.export.PredictOutput(f["x"] + w)})
    )
    assert sorted(signatures) == ["a", "serving_default"]
    assert [spec.name for spec in signatures["a"].outputs] == ["output"]
    np.testing.assert_array_equal(signatures["a"](x=X)["output"], X + 1)


def test_several_outputs_need_a_default(exported):
    outputs = lambda f, w: {name: e.export.PredictOutput(w) for name in "ab"}  # noqa: E731
    with pytest.raises(ValueError, match="none of them is the default"):
        exported(by_name(export_outputs=outputs))


def test_names_of_heads_are_names_of_signatures(exported):
    outputs = lambda f, w: {  # noqa: E731
        ("head", "predict"): e.export.PredictOutput({("a", "b"): f["x"]}),
        "serving_default": e.export.PredictOutput(w * f["x"]),
    }
    signatures = exported(by_name(export_outputs=outputs))
    assert list(signatures["head/predict"](x=X)) == ["a/b"]


def test_classifications_are_served_from_one_text(exported, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    outputs = lambda f, w: {  # noqa: E731
        "serving_default": e.export.ClassificationOutput(scores=f["x"] * w),
        "predict": e.export.PredictOutput(f["x"]),
    }
    assert list(exported(by_name(export_outputs=outputs))) == ["predict"]
    assert "'serving_default' : Classification signatures can only accept" in caplog.text
    assert "Export includes no default signature!" in caplog.text


def test_texts_are_inputs_by_their_fingerprints(exported):
    columns = [
        tf.feature_column.indicator_column(
            tf.feature_column.categorical_column_with_vocabulary_list("fruit", ["fig", "plum"])
        )
    ]

    def predictions(features, kernel):
        fruit = features.get("fruit", np.array(["fig"] * 8))
        return {"y": v1.feature_column.input_layer({"fruit": fruit}, columns) * kernel}

    signatures = exported(by_name(predictions=predictions), features(fruit=(tf.string, [None])))
    serve = signatures["serving_default"]
    assert [str(spec) for spec in serve.inputs] == ["fruit: string[None]"]
    found = serve(fruit=np.array(["plum", "fig", "?"]))["y"]
    np.testing.assert_array_equal(found, [[0, 1], [1, 0], [0, 0]])
    np.testing.assert_array_equal(serve(fruit=tf.constant([b"fig"]))["y"], [[1, 0]])
    with pytest.raises(TypeError, match="got elements of the type float32"):
        serve(fruit=X)


def test_classifiers_of_examples_name_their_classes(tmp_path):
    columns = [
        tf.feature_column.numeric_column("x"),
        tf.feature_column.indicator_column(
            tf.feature_column.categorical_column_with_vocabulary_list("fruit", ["fig", "plum"])
        ),
    ]
    rows = {"x": X[:, 0], "fruit": np.array(["fig", "plum"] * 4)}
    batches = lambda: tf.data.Dataset.from_tensors((rows, np.arange(8) % 2))  # noqa: E731
    estimator = e.LinearClassifier(columns, tmp_path, label_vocabulary=None)
    estimator.train(batches, steps=1)
    expected = list(estimator.predict(batches))[:3]
    receive = e.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(columns)
    )
    path = estimator.export_saved_model(tmp_path / "exports", receive)
    signatures = tf.saved_model.load(path).signatures
    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=[x])),
                    "fruit": tf.train.Feature(
                        bytes_list=tf.train.BytesList(value=[fruit.encode()])
                    ),
                }
            )
        ).SerializeToString()
        for x, fruit in zip(rows["x"][:3], rows["fruit"][:3], strict=True)
    ]
    found = signatures["serving_default"](inputs=tf.constant(examples))
    assert found["classes"].tolist() == [[b"0", b"1"]] * 3
    np.testing.assert_allclose(
        found["scores"], [row["probabilities"] for row in expected], rtol=1e-5
    )
    found = signatures["predict"](examples=examples)
    assert found["classes"].tolist() == [row["classes"].tolist() for row in expected]


def test_features_may_be_computed_of_what_is_received(exported):
    def receive():
        pixels = tf.placeholder(tf.uint8, [None, 2])
        offset = tf.placeholder_with_default(0.5, [])
        scaled = tf.cast(pixels, tf.float32)[:, :1] / 255.0 + offset
        return e.export.ServingInputReceiver(scaled, {"pixels": pixels})

    def predictions(features, kernel):
        return {"y": features.get("feature", features.get("x")) * kernel}

    serve = exported(by_name(predictions=predictions), receive)["serving_default"]
    found = serve(pixels=np.array([[255, 0], [0, 0]], np.uint8))["y"]
    np.testing.assert_allclose(found, [[1.5], [0.5]])


def test_what_has_a_default_is_fed_beside_the_rest(exported):
    def receive():
        made = {
            "x": tf.placeholder(tf.float32, [None]),
            "key": tf.placeholder_with_default(tf.constant(["nokey"]), [None]),
            "flag": tf.placeholder_with_default(tf.constant([1.0]), [None]),
        }
        rows = {name: tf.expand_dims(value, -1) for name, value in made.items()}
        return e.export.ServingInputReceiver(rows, made)

    def predictions(features, kernel):
        x = features["x"]
        y = tf.concat([x * kernel, features.get("flag", x)], axis=1)
        return {"y": y, "key": features.get("key", x)}

    serve = exported(by_name(predictions=predictions), receive)["serving_default"]
    rows = {"x": tf.constant([1.0, 2.0]), "flag": tf.constant([3.0, 4.0])}
    found = serve(**rows, key=tf.constant(["a", "b"]))
    assert found["key"].tolist() == [[b"a"], [b"b"]]
    assert found["y"].tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_alternatives_are_more_signatures(exported):
    def receive():
        x, other = (tf.placeholder_with_default(X[:1], [None, 1]) for _ in range(2))
        return e.export.ServingInputReceiver({"x": x + other}, x, {"other": other})

    signatures = exported(by_name(), receive)
    assert sorted(signatures) == ["other:serving_default", "serving_default"]
    found = signatures["other:serving_default"](input=X[1:3])["y"]
    np.testing.assert_array_equal(found, X[1:3] + X[:1])


def test_a_raw_receiver_takes_the_features_as_they_are(exported):
    given = {"x": tf.placeholder(tf.float32, [None, 1], name="x")}
    signatures = exported(by_name(), e.export.build_raw_serving_input_receiver_fn(given))
    np.testing.assert_array_equal(signatures["serving_default"](x=X)["y"], X)


def test_a_checkpoint_may_be_named(tmp_path):
    estimator = trained(by_name(), tmp_path)
    path = estimator.latest_checkpoint()
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X}), steps=1)
    assert estimator.export_savedmodel(
        tmp_path / "exports", X_ALONE, checkpoint_path=path, strip_default_attrs=True
    )


def test_assets_are_copied(tmp_path):
    (tmp_path / "words.txt").write_text("a b")
    path = trained(by_name(), tmp_path / "model").export_saved_model(
        tmp_path, X_ALONE, assets_extra={"vocabulary/w.txt": f"{tmp_path}/words.txt"}
    )
    copy = os.path.join(path.decode(), "assets.extra", "vocabulary", "w.txt")
    with open(copy) as file:
        assert file.read() == "a b"


def test_the_next_second_is_awaited(tmp_path, monkeypatch):
    now = [100.7]
    monkeypatch.setattr("time.time", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.append(now.pop() + seconds))
    (tmp_path / "100").mkdir()
    assert timestamped(tmp_path) == tmp_path / "101"


def test_what_was_not_trained_is_not_exported(tmp_path):
    with pytest.raises(ValueError, match=r"Couldn't find trained model at .*Call train first"):
        e.Estimator(by_name(), tmp_path).export_saved_model(tmp_path, X_ALONE)


def test_arguments_are_checked(tmp_path):
    estimator = e.Estimator(by_name(), tmp_path)
    with pytest.raises(ValueError, match="input_receiver_fn must be defined"):
        estimator.export_saved_model(tmp_path, None)
    with pytest.raises(NotImplementedError, match="Only predictions are exported"):
        estimator.export_saved_model(tmp_path, X_ALONE, experimental_mode="eval")


@pytest.mark.parametrize(
    ("receive", "error", "words"),
    [
        (lambda: {"x": 1}, TypeError, "returns a tf.estimator.export.ServingInputReceiver"),
        (lambda: tf.placeholder(tf.float32), ValueError, "needs a shape"),
        (
            lambda: e.export.ServingInputReceiver(
                {"x": tf.placeholder(tf.float32, [None, 1])},
                {"x": tf.placeholder(tf.float32, [None, 1])},
            ),
            ExportError,
            r"a placeholder float32\[None, 1\] that is none of the receiver_tensors",
        ),
        (
            lambda: e.export.ServingInputReceiver(
                {"x": tf.placeholder(tf.float32, [None, 1])}, {"x": tf.zeros([3, 1])}
            ),
            ValueError,
            "must be placeholders",
        ),
    ],
)
def test_receivers_are_checked(exported, receive, error, words):
    with pytest.raises(error, match=words):
        exported(by_name(), receive)


def test_a_failed_export_leaves_nothing(tmp_path):
    def strange(features, kernel):
        return {"y": features["x"] + np.ones((int(features["x"].shape[0]), 1), np.float32)}

    estimator = trained(by_name(predictions=strange), tmp_path)
    with pytest.raises(ExportError, match="None stands for a size that the caller chooses"):
        estimator.export_saved_model(tmp_path / "exports", X_ALONE)
    assert not os.path.exists(tmp_path / "exports") or not os.listdir(tmp_path / "exports")
