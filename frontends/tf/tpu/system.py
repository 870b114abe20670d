"""Starting a TPU, and what it is then: `initialize_tpu_system` and `shutdown_tpu_system`."""

import logging
from typing import Any

import jax

from frontends.tf.distribute.joining import join_tpu_hosts
from frontends.tf.tpu.topology import Topology, topology_of_devices
from spmd._jax_internals import is_tracing
from spmd.topology import has_tpu

_LOG = logging.getLogger("tensorflow")


class TPUNotFoundError(FileNotFoundError, ValueError):
    """There is no TPU: a `tf.errors.NotFoundError` as in TensorFlow, and a ValueError as the resolver's.

    Source: `tf.errors.NotFoundError`.
    """


def require_tpu(what: str) -> None:
    """Makes sure that this process has TPU devices, or simulated ones.

    Args:
        what: that needs them.

    Raises:
        TPUNotFoundError: it has none.
    """
    if not has_tpu():
        raise TPUNotFoundError(
            f"TPUs not found in the cluster: {what} needs a TPU, and this machine has none that JAX can use (no chip on its "
            "bus, no libtpu, or JAX_PLATFORMS names others). JAX runs on the machines that hold the TPU: start the script on a "
            "Cloud TPU VM, with pip install 'jax[tpu]'. Without one, simulate it: JAXTRIBUTE_SIMULATE=tpu:8."
        )


def initialize_tpu_system(cluster_resolver: Any = None) -> Topology:
    """Starts the TPU, joins its other hosts if there are several, and tells where its cores are.

    What differs here: JAX starts a TPU once, when it is first used, so that a second call changes nothing, and loses no
    variables.

    Args:
        cluster_resolver: a `TPUClusterResolver`, which remembers the topology; None for this machine's TPU.

    Returns:
        The topology.

    Raises:
        tf.errors.NotFoundError: there is no TPU. It is a ValueError as well.
        RuntimeError: called inside a `tf.function`.

    Source: `tf.tpu.experimental.initialize_tpu_system`.
    """
    _require_eager("initialize_tpu_system")
    require_tpu("initialize_tpu_system")
    join_tpu_hosts()
    topology = topology_of_devices()
    if hasattr(cluster_resolver, "set_tpu_topology"):
        cluster_resolver.set_tpu_topology(topology)
    _LOG.info("Finished initializing TPU system: %s", topology.mesh_shape)
    return topology


def shutdown_tpu_system(cluster_resolver: Any = None) -> None:
    """Forgets compiled programs; the TPU stays started until the process ends, as variables lie in its memory.

    Raises:
        tf.errors.NotFoundError: there is no TPU. It is a ValueError as well.
        RuntimeError: called inside a `tf.function`.

    Source: `tf.tpu.experimental.shutdown_tpu_system`.
    """
    _require_eager("shutdown_tpu_system")
    require_tpu("shutdown_tpu_system")
    jax.clear_caches()


def _require_eager(name: str) -> None:
    if is_tracing():
        raise RuntimeError(
            f"{name} is not supported within tf.functions. You should call {name} outside of your tf.function, at the top of "
            "the script."
        )
