"""`tf.contrib.tpu`: `TPUEstimator` and what goes with it, where TensorFlow 1 first had it."""

from frontends.tf._names import attributes

_ESTIMATOR = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")
_SUMS = ("CrossShardOptimizer", "bfloat16_scope", "cross_replica_sum")
__getattr__, __dir__ = attributes(
    "tf.contrib.tpu",
    {},
    borrowed={
        **dict.fromkeys(_ESTIMATOR, "frontends.tf.estimator.tpu"),
        **dict.fromkeys(_SUMS, "frontends.tf.tpu.cross_shard"),
        "initialize_system": "frontends.tf.tpu.experimental:initialize_tpu_system",
        "shutdown_system": "frontends.tf.tpu.experimental:shutdown_tpu_system",
    },
)
