"""`tf.keras.estimator`: estimators of models."""

from frontends.tf._names import attributes

__getattr__, __dir__ = attributes(
    "tf.keras.estimator",
    {},
    borrowed={"model_to_estimator": "frontends.tf.estimator.keras_model"},
)
