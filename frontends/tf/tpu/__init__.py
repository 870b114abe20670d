"""`tf.tpu`: what scripts say to TPUs in particular."""

from frontends.tf import _names
from frontends.tf.tpu.options import PaddingSpec as PaddingSpec
from frontends.tf.tpu.options import XLAOptions as XLAOptions

# Lazy, because it imports tf.distribute.cluster_resolver, and that tf.train.
_LAZY = {"experimental": "frontends.tf.tpu.experimental"}
__getattr__, __dir__ = _names.attributes(
    "tf.tpu",
    _names.exported_by(__name__),
    _LAZY,
    borrowed=dict.fromkeys(
        ("CrossShardOptimizer", "bfloat16_scope", "cross_replica_sum"),
        "frontends.tf.tpu.cross_shard",
    ),
)
