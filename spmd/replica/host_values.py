"""Per-replica values that stay in host memory, since the devices cannot hold them: texts, and arrays of several shapes."""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from spmd.replica.context import current_frame
from spmd.replica.values import ReplicaValue
from spmd.topology import layout_of, num_replicas, place, readable


class HostPerReplica(ReplicaValue):
    """One value per replica, in host memory: texts, or arrays whose shapes differ in more than their rows.

    Texts travel with the other parts of a batch, so that a loop can print or write them. It can be read and gathered
    between the replicas. A step may get it with its other arguments, but cannot use it.

    Attributes:
        mesh: whose replicas have the values.
        num_replicas: how many replicas there are, those of other processes included.

    Examples:
        >>> import numpy as np, spmd
        >>> batch = {"name": np.array(["a", "b", "c"]), "x": np.arange(3)}
        >>> for batch in spmd.distribute([batch], spmd.make_mesh(["cpu:0", "cpu:1"])):
        ...     print(batch["name"], spmd.gather(batch["name"]).tolist())
        HostPerReplica(0: ['a' 'b'], 1: ['c']) ['a', 'b', 'c']

    Source: `tf.distribute.DistributedValues`.
    """

    __slots__ = ("_values", "mesh", "num_replicas")

    def __init__(self, values: Sequence[np.ndarray[Any, Any]] | None, mesh: Mesh) -> None:
        """Wraps the values.

        Args:
            values: of the replicas of this process, in order; None stands for them in a step that is traced.
            mesh: whose replicas have them.
        """
        self._values = None if values is None else tuple(values)
        self.mesh = mesh
        self.num_replicas = num_replicas(mesh)

    @property
    def values(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The value of every replica of this process, in order.

        Raises:
            TypeError: the code is in a compiled step, which has no texts.
        """
        if self._values is None:
            raise TypeError(
                "Devices hold numbers and booleans, but this is a batch of texts: it stays in host memory, and a "
                "compiled step cannot use it. Encode texts as numbers in a map of the dataset, or use them outside "
                "of the step."
            )
        return self._values

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self._values is None or all(value.dtype.kind in "OSU" for value in self._values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the first replica's value."""
        return self.values[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self.values[0].dtype

    def in_step(self) -> "HostPerReplica":
        """Returns what stands for it in a step: of texts a stand-in, the same for all batches; else itself."""
        return HostPerReplica(None, self.mesh) if self.is_text else self

    def gathered(self, axis: int) -> Any:
        """Concatenates the values of all replicas.

        Args:
            axis: along which.

        Returns:
            NumPy's array of texts; or an array on the devices.

        Raises:
            ValueError: the shapes differ in other axes, too.
            TypeError: other processes have values; or as for `values`.
        """
        values = self.values
        if len(values) < self.num_replicas:
            raise TypeError(
                f"This process has the values of {len(values)} of {self.num_replicas} replicas, and those in host "
                "memory do not travel between processes. Encode them as numbers, and pad them to one shape."
            )
        try:
            whole = np.concatenate(values, axis=axis)
        except ValueError:
            raise ValueError(
                f"gather along axis {axis} needs values that are alike in all other axes, but the replicas' shapes "
                f"are {[value.shape for value in values]}. Pad them, or gather along another axis."
            ) from None
        if self.is_text:
            return whole
        if current_frame() is not None:
            return jnp.asarray(whole)
        return readable(place(whole, layout_of(self.mesh).whole))

    def numpy(self) -> Any:
        """Returns the only replica's value, a copy.

        Raises:
            TypeError: there are several replicas.
        """
        return np.array(self.values[0])[()] if self.num_replicas == 1 else self.__jax_array__()

    def __jax_array__(self) -> jax.Array:
        if self.is_text:
            raise TypeError(
                f"Devices hold numbers and booleans, but these are texts: {list(self.values)}. Encode them as "
                "numbers in a map of the dataset."
            )
        return super().__jax_array__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        del copy
        value: Any = self.values[0] if self.num_replicas == 1 else super().__jax_array__()
        return np.asarray(value, dtype)

    def __len__(self) -> int:
        return self.num_replicas

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        return iter(self.values)

    def __getitem__(self, index: int) -> np.ndarray[Any, Any]:
        return self.values[index]

    def _count(self) -> int:
        return self.num_replicas

    def _first(self) -> Any:
        return jnp.asarray(self.values[0])

    def __eq__(self, other: object) -> Any:
        if self.num_replicas == 1 and self.is_text:
            return self.values[0] == np.asarray(other)
        return super().__eq__(other)

    __hash__ = ReplicaValue.__hash__

    def __str__(self) -> str:
        return repr(self) if self._values is None or self.num_replicas > 1 else str(self._values[0])

    def __repr__(self) -> str:
        if self._values is None:
            return f"HostPerReplica({self.num_replicas} x texts)"
        return (
            f"HostPerReplica({', '.join(f'{i}: {value}' for i, value in enumerate(self._values))})"
        )


def is_text(array: Any) -> bool:
    """Tells whether an array of NumPy holds texts, Python's or NumPy's.

    Args:
        array: with elements of any type.

    Examples:
        >>> is_text(np.array(["a"])), is_text(np.array([b"a"], object)), is_text(np.array([1]))
        (True, True, False)
    """
    if array.dtype.kind == "O":
        return all(isinstance(item, (str, bytes)) for item in array.flat)
    return array.dtype.kind in "SU"
