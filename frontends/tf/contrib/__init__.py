"""`tf.contrib`: what TensorFlow 1 kept there and estimators used: strategies, TPUs, layers, hyperparameters, tables, and former names of `tf`."""

from frontends.tf._names import attributes
from frontends.tf.contrib import distribute, layers

_LAZY = {
    **{
        name: f"frontends.tf.contrib.{name}"
        for name in (
            *(
                "crf",
                "data",
                "eager",
                "estimator",
                "framework",
                "learn",
                "lookup",
                "metrics",
                "opt",
                "predictor",
                "rnn",
                "slim",
                "summary",
            ),
            *("tpu", "training"),
        )
    },
    "distributions": "frontends.tf.compat.v1.distributions",
    "cluster_resolver": "frontends.tf.distribute.cluster_resolver",
    "keras": "frontends.tf.keras",
}
__getattr__, __dir__ = attributes("tf.contrib", {"distribute": distribute, "layers": layers}, _LAZY)
