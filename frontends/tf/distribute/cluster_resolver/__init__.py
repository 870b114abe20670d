"""`tf.distribute.cluster_resolver`: ways to find out which tasks make a cluster, and which one this is."""

from frontends.tf._names import attributes
from frontends.tf.distribute.cluster_resolver.base import ClusterResolver
from frontends.tf.distribute.cluster_resolver.gce import GCEClusterResolver
from frontends.tf.distribute.cluster_resolver.kubernetes import (
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
)
from frontends.tf.distribute.cluster_resolver.simple import SimpleClusterResolver
from frontends.tf.distribute.cluster_resolver.slurm import SlurmClusterResolver
from frontends.tf.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from frontends.tf.distribute.cluster_resolver.tpu import TPUClusterResolver
from frontends.tf.distribute.cluster_resolver.union import UnionClusterResolver
from frontends.tf.distribute.cluster_resolver.union import UnionClusterResolver as UnionResolver

__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "KubernetesExecutableLocation",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
    "UnionResolver",
]

__getattr__, __dir__ = attributes("tf.distribute.cluster_resolver", {}, present=__all__)
