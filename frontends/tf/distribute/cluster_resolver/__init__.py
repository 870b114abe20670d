"""`tf.distribute.cluster_resolver`: ways to find out which tasks make a cluster, and which one this is."""

from frontends.tf import _names
from frontends.tf.distribute.cluster_resolver.base import ClusterResolver as ClusterResolver
from frontends.tf.distribute.cluster_resolver.gce import GCEClusterResolver as GCEClusterResolver
from frontends.tf.distribute.cluster_resolver.kubernetes import (
    KubernetesClusterResolver as KubernetesClusterResolver,
)
from frontends.tf.distribute.cluster_resolver.kubernetes import (
    KubernetesExecutableLocation as KubernetesExecutableLocation,
)
from frontends.tf.distribute.cluster_resolver.simple import (
    SimpleClusterResolver as SimpleClusterResolver,
)
from frontends.tf.distribute.cluster_resolver.slurm import (
    SlurmClusterResolver as SlurmClusterResolver,
)
from frontends.tf.distribute.cluster_resolver.tf_config import (
    TFConfigClusterResolver as TFConfigClusterResolver,
)
from frontends.tf.distribute.cluster_resolver.tpu import TPUClusterResolver as TPUClusterResolver
from frontends.tf.distribute.cluster_resolver.union import (
    UnionClusterResolver as UnionClusterResolver,
)

UnionResolver = UnionClusterResolver

__getattr__, __dir__ = _names.attributes(
    "tf.distribute.cluster_resolver", _names.exported_by(__name__)
)
