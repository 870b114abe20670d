"""Training with parameter servers: what each task of the cluster does.

One task *coordinates*: the chief, or the first worker of a cluster without one. It computes as well, as TensorFlow 1's chief
does. All other workers, and the parameter servers, *serve*: they run what the coordinator sends. The coordinator may also be a
program that is no task of the cluster, all of which serves then (`DistributeConfig(remote_cluster=...)`).
"""

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.distribute.input import InputContext
from frontends.tf.distribute.server import Server
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from frontends.tf.estimator.batches import batches_of, call_with
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.estimator.run_config import RunConfig
from frontends.tf.estimator.server_loop import ServerLoop
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.cluster import RESTART_VARIABLE
from spmd.errors import UnavailableError


def uses_servers(config: RunConfig) -> bool:
    """Tells whether training is asynchronous, on parameter servers.

    Raises:
        ValueError: there are parameter servers, and the strategy has no use for them.
    """
    strategy = config.train_distribute
    if "ps" not in _cluster_of(config).jobs:
        return False
    if strategy is not None and not isinstance(strategy, ParameterServerStrategy):
        raise ValueError(
            f'The cluster has the job "ps", parameter servers, but {type(strategy).__name__} keeps variables in '
            "the workers. Train with RunConfig(train_distribute=tf.distribute.ParameterServerStrategy()), or leave them out of "
            "the cluster and have its workers train together: "
            "RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())."
        )
    return True


def serves(config: RunConfig) -> bool:
    """Tells whether this task serves while another one coordinates."""
    return uses_servers(config) and not config.is_chief


def serve(config: RunConfig, has_ended: Callable[[], bool]) -> None:
    """Serves until the training is over; under a launcher, which ends tasks itself, until it does so.

    Args:
        config: of the estimator.
        has_ended: tells that the training has ended, to a task that its coordinator did not tell: it was not there at the end.
    """
    server = Server(config.cluster_spec, config.task_type, config.task_id, start=False)
    server.serve(until=has_ended if RESTART_VARIABLE not in os.environ else None)


def coordinate(
    config: RunConfig,
    input_fn: Callable[..., Any],
    params: Any,
    train: Callable[[ParameterServerStrategy, ServerLoop, Callable[..., Any]], None],
) -> None:
    """Trains in the workers; goes on from the last checkpoint when a parameter server was lost, once it is back.

    Args:
        config: of the estimator.
        input_fn: each worker calls it.
        params: of the estimator.
        train: makes variables or restores them, and calls the loop; given the strategy, the loop and the `input_fn` of this worker.
    """
    own = None if config.remote_cluster else (config.task_type, config.task_id)
    known = {"mode": ModeKeys.TRAIN, "params": params, "config": config}
    while True:
        strategy = ParameterServerStrategy.coordinating(
            _cluster_of(config), own, config.train_distribute
        )
        workers, own_worker = strategy.num_workers, None
        if own is not None:
            own_worker = own[1] if own[0] == "worker" else workers - 1
        own_input = functools.partial(_input, input_fn, own_worker or 0, workers)

        def batches(worker: int, strategy: Any = strategy, workers: int = workers) -> Iterator[Any]:
            input_of_worker = functools.partial(_input, input_fn, worker, workers)
            return batches_of(input_of_worker, strategy, **known)

        try:
            train(strategy, ServerLoop(strategy, batches, own_worker), own_input)
        except UnavailableError as error:
            logging.warning(
                f"{error.loss} Training goes on from the last checkpoint once it runs again."
            )
            continue
        break
    if strategy.cluster is not None:
        strategy.cluster.finish()


def _cluster_of(config: RunConfig) -> ClusterSpec:
    return config.remote_cluster or config.cluster_spec


def _input(
    input_fn: Callable[..., Any],
    worker: int,
    workers: int,
    input_context: InputContext,
    **known: Any,
) -> Any:
    """Calls an `input_fn` for one of several workers."""
    context = InputContext(workers, worker, input_context.num_replicas_in_sync)
    return call_with(input_fn, input_context=context, **known)
