"""Clusters of parameter servers and workers in this process, as TensorFlow's tutorial makes them."""

import itertools

from frontends import tf

_PORTS = itertools.count(20000)


def resolver(workers: int, servers: int) -> tf.distribute.cluster_resolver.SimpleClusterResolver:
    """Makes the servers of a cluster, and the resolver that knows it."""
    jobs = {"worker": workers, "ps": servers}
    spec = tf.train.ClusterSpec(
        {job: [f"localhost:{next(_PORTS)}" for _ in range(count)] for job, count in jobs.items()}
    )
    for job, count in jobs.items():
        for index in range(count):
            tf.distribute.Server(spec, job_name=job, task_index=index, protocol="grpc")
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")


def strategy(workers: int, servers: int = 1, **kwargs: object):
    """Makes a strategy over a new cluster."""
    return tf.distribute.ParameterServerStrategy(resolver(workers, servers), **kwargs)
