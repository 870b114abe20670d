"""A log of where arrays go: to which devices, and how they are divided among them."""

import logging
from typing import Any

from jax.sharding import Sharding

_LOG = logging.getLogger("spmd.placement")
_HANDLER = logging.StreamHandler()
_HANDLER.setFormatter(logging.Formatter("%(message)s"))
_NAMED = 4


def log_placements(enabled: bool) -> None:
    """Logs from now on where batches, arguments and variables are put; to stderr, by the logger `"spmd.placement"`.

    Args:
        enabled: whether to.

    Examples:
        >>> log_placements(True)
        >>> logs_placements()
        True
        >>> log_placements(False)

    Source: `tf.debugging.set_log_device_placement`.
    """
    _LOG.setLevel(logging.INFO if enabled else logging.NOTSET)
    _LOG.propagate = not enabled  # or the root's handlers would say it once more
    _LOG.removeHandler(_HANDLER)
    if enabled:
        _LOG.addHandler(_HANDLER)


def logs_placements() -> bool:
    """Tells whether placements are logged."""
    return _HANDLER in _LOG.handlers


def log_placed(what: str, value: Any, sharding: Sharding) -> None:
    """Logs one placement, if they are logged.

    Args:
        what: is placed.
        value: the array, of any sort.
        sharding: where it goes.
    """
    if not logs_placements():
        return
    shape = tuple(value.shape)
    part = sharding.shard_shape(shape)
    size = "all of it" if part == shape else f"{list(part)} of it"
    _LOG.info("%s: %s%s, %s on each of %s", what, value.dtype, list(shape), size, named(sharding))


def named(sharding: Sharding) -> str:
    """Names the devices of a sharding."""
    devices = sorted(sharding.device_set, key=lambda device: device.id)
    names = [f"{device.platform}:{device.id}" for device in devices]
    if len(names) > _NAMED:
        names = [*names[:2], "...", names[-1]]
    return f"{len(devices)} device(s) ({', '.join(names)})"
