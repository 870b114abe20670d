"""Texts among the features of a model function: given back as predictions, and given to buckets."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded, wave
from tests.golden.estimators.small import GROUP
from tests.golden.scenarios.base import Case, Setting

NAMES = ["Ada", "", "Grace", "Ada", "Björn"]


@recorded("estimator.texts", GROUP)
def texts(s: Setting) -> Iterator[Case]:
    tf = s.tf
    v1 = tf.compat.v1

    def predicted(make: Callable[[Any], Any], names: Any = NAMES, **options: Any) -> Any:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            y = v1.layers.dense(features["x"], 1)
            predictions = make(features)
            if mode == tf.estimator.ModeKeys.PREDICT:
                return tf.estimator.EstimatorSpec(mode, predictions)
            loss = v1.losses.mean_squared_error(labels, y)
            optimizer = v1.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)

        def input_fn() -> Any:
            x = wave([len(names), 2], 0.2, 1.0)
            rows = tf.data.Dataset.from_tensor_slices(({"x": x, "name": names}, x[:, :1]))
            return rows.batch(2)

        with Log():
            estimator = tf.estimator.Estimator(model_fn, folder())
            estimator.train(input_fn)
            return list(estimator.predict(input_fn, **options))

    yield "given_back", lambda: predicted(lambda f: {"name": f["name"]})
    yield "alone", lambda: predicted(lambda f: f["name"])
    yield "identity", lambda: predicted(lambda f: {"name": tf.identity(f["name"])})
    yield "reshaped", lambda: predicted(lambda f: {"name": tf.reshape(f["name"], [-1, 1])})
    yield "expanded", lambda: predicted(lambda f: {"name": tf.expand_dims(f["name"], 1)})
    yield "of_two", lambda: predicted(lambda f: {"name": f["name"]}, [NAMES[:2], NAMES[2:4]])
    yield (
        "chosen_key",
        lambda: predicted(lambda f: {"name": f["name"], "x": f["x"]}, predict_keys=["name"]),
    )
    yield (
        "buckets",
        lambda: predicted(lambda f: {"bucket": tf.strings.to_hash_bucket_fast(f["name"], 1000)}),
    )
    yield (
        "buckets_v1",
        lambda: predicted(lambda f: {"bucket": v1.string_to_hash_bucket_fast(f["name"], 7)}),
    )
    yield (
        "embedded_buckets",
        lambda: predicted(
            lambda f: {
                "row": tf.gather(
                    tf.constant([0.5, 1.5, 2.5]), tf.strings.to_hash_bucket_fast(f["name"], 3)
                )
            }
        ),
    )
    yield "equal", lambda: predicted(lambda f: {"equal": tf.equal(f["name"], "Ada")})
