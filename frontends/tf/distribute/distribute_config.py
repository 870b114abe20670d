"""`tf.contrib.distribute.DistributeConfig`."""

from typing import Any, NamedTuple


class DistributeConfig(NamedTuple):
    """Strategies, and a cluster that runs the steps of a program outside of it.

    Attributes:
        train_distribute: strategy of training.
        eval_distribute: strategy of evaluations.
        remote_cluster: addresses of the cluster's tasks, by job.

    Source: `tf.contrib.distribute.DistributeConfig`.
    """

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None
