"""A function of rows that the devices apply to a batch once it is placed.

Data that a pipeline makes larger, such as pixels of 8 bits that become 32-bit floats, is made where it is needed:
less travels to the devices, and the host does less.
"""

from collections.abc import Callable

import jax
from jax.sharding import Mesh

from spmd.errors import BatchError
from spmd.input.batch import leaf_name
from spmd.topology import layout_of
from spmd.typing import PyTree


class DeviceMap:
    """Applies a function to batches on a mesh: each device to its own rows, in one program.

    Attributes:
        is_needed: tells, once there is a batch, whether the function changes it.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> pixels = np.array([[0, 255]], np.uint8)
        >>> for batch in spmd.distribute(
        ...     pixels, mesh, batch_size=1, map_on_devices=lambda x: x.astype(np.float32) / 255
        ... ):
        ...     print(batch)
        [[0. 1.]]
    """

    def __init__(
        self,
        function: Callable[[PyTree], PyTree],
        mesh: Mesh,
        is_needed: Callable[[], bool] = lambda: True,
    ) -> None:
        """Prepares a function; it is traced with the first batch.

        Args:
            function: takes a batch of arrays `(rows, ...)`, and returns another of as many rows.
            mesh: where the batches are.
            is_needed: tells, once there is a batch, whether the function changes it.
        """
        self.is_needed = is_needed

        def checked(batch: PyTree) -> PyTree:
            result = function(batch)
            rows = jax.tree.leaves(batch)[0].shape[0]
            if not jax.tree.leaves(result):
                raise BatchError(
                    f"The function that is mapped on the devices returned {result!r}, which has no array. Return the "
                    "batch that the training loop is to get."
                )
            for index, leaf in enumerate(jax.tree.leaves(result)):
                shape = jax.numpy.shape(leaf)
                if shape[:1] != (rows,):
                    raise BatchError(
                        f"The function that is mapped on the devices must return as many rows as it takes: "
                        f"it took {rows}, but {leaf_name(result, index)} has the shape {list(shape)}. Keep "
                        "the first axis of every array."
                    )
            return result

        layout = layout_of(mesh)
        rows = layout.rows.spec
        self._run = jax.jit(
            jax.shard_map(
                checked,
                mesh=mesh,
                in_specs=rows,
                out_specs=rows,
                axis_names=set(layout.data_axes),
                check_vma=False,
            )
        )

    def __call__(self, batch: PyTree) -> PyTree:
        """Applies the function; does not wait for the devices.

        Args:
            batch: arrays whose rows are split over the replicas.

        Returns:
            The function's results for all rows, split in the same way.

        Raises:
            BatchError: the function returns another number of rows.
        """
        return self._run(batch)
