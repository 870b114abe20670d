"""Rows that stay on the host until the program that takes them runs."""

from typing import Any

import jax
import numpy as np
from jax.sharding import Sharding

from spmd.replica.values import PerReplica, RowMask
from spmd.topology import place


class HostRows(PerReplica):
    """All rows of the only replica, on the host: a step gives them to its program, without a transfer of their own.

    Whatever else reads them puts them on the device first. Nobody may write to the host's array.

    Attributes:
        host: the rows, without padding.

    Examples:
        >>> import jax, numpy as np, spmd
        >>> from spmd.topology import layout_of
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> rows = HostRows(np.ones((2, 3), np.float32), layout_of(mesh).rows)
        >>> rows.shape, rows.array.sharding == layout_of(mesh).rows
        ((2, 3), True)
    """

    __slots__ = ("_placed", "_sharding", "host")

    def __init__(
        self, host: np.ndarray[Any, Any], sharding: Sharding, mask: RowMask | None = None
    ) -> None:
        """Wraps rows; transfers nothing.

        Args:
            host: shape `(rows, ...)`.
            sharding: how they lie on the device.
            mask: their valid rows, which are all.
        """
        self.host = host
        self.num_replicas = 1
        self.stacked = False
        self.mask = mask
        self.key = (host.shape, host.dtype, False, sharding)
        self._sharding = sharding
        self._placed: jax.Array | None = None

    @property
    def array(self) -> jax.Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The array on the device."""
        if self._placed is None:
            self._placed = place(self.host, self._sharding)
        return self._placed
