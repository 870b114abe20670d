"""The arguments of a step: what is split, what is whole, what holds state, and what is fixed.

Each leaf of the arguments is one of these. *Split*: a `PerReplica`; every replica gets its block.
*Whole*: an array or a number; every replica gets all of it. *Thing*: an object that holds variables,
such as a module; they are lifted. *Fixed*: anything else (a bool, a string, None's absence, an
enumeration); it is part of the program, and another value makes another program.
"""

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh

from spmd.errors import BatchError
from spmd.replica import PerReplica, RowMask, TracedPerReplica, is_per_replica
from spmd.state import adapter_of
from spmd.topology import layout_of, place_own


class Leaf(NamedTuple):
    """How one leaf of the arguments enters a step.

    Attributes:
        how: `"split"`, `"whole"`, `"thing"` or `"fixed"`.
        key: what a program depends on: shape and type, or the value itself.
        mask: index of the mask, of a split leaf with rows.
    """

    how: str
    key: Hashable
    mask: int | None = None


@dataclasses.dataclass
class Arguments:
    """The arguments of one call, taken apart.

    Attributes:
        structure: structure of `(args, kwargs)`.
        leaves: one for every leaf of it.
        split: arrays that are split over the replicas.
        stacked: for each of them, whether blocks are stacked along a new axis.
        masks: the masks of batches among them, each once.
        whole: arrays and numbers that every replica gets.
        others: things and fixed values, in order.
    """

    structure: Any
    leaves: list[Leaf] = dataclasses.field(default_factory=list[Leaf])
    split: list[jax.Array] = dataclasses.field(default_factory=list[jax.Array])
    stacked: list[bool] = dataclasses.field(default_factory=list[bool])
    masks: list[RowMask] = dataclasses.field(default_factory=list[RowMask])
    whole: list[Any] = dataclasses.field(default_factory=list[Any])
    others: list[Any] = dataclasses.field(default_factory=list[Any])

    @property
    def key(self) -> Hashable:
        """What a compiled program depends on."""
        return (self.structure, tuple(self.leaves))

    def abstract_split(self, replicas: int, more_rows: int) -> list[jax.ShapeDtypeStruct]:
        """Describes what is split, as if every block of a batch had more rows.

        Args:
            replicas: how many blocks there are.
            more_rows: how many more.

        Returns:
            Shape and type of each array.
        """
        masked = [leaf.mask is not None for leaf in self.leaves if leaf.how == "split"]
        found: list[jax.ShapeDtypeStruct] = []
        for array, stacked, rows in zip(self.split, self.stacked, masked, strict=True):
            shape = list(array.shape)
            if rows:
                shape[int(stacked)] += more_rows * (1 if stacked else replicas)
            found.append(jax.ShapeDtypeStruct(tuple(shape), array.dtype))
        return found

    def things(self) -> list[tuple[str, Any]]:
        """Lists the objects that may hold state, with the place where they were passed."""
        paths = jax.tree_util.tree_leaves_with_path(
            jax.tree.unflatten(self.structure, range(len(self.leaves)))
        )
        others = iter(self.others)
        found: list[tuple[str, Any]] = []
        for (path, _), leaf in zip(paths, self.leaves, strict=True):
            if leaf.how in ("thing", "fixed"):
                thing = next(others)
                found.append((_argument_name(path), thing))
        return found

    def rebuild(
        self, split: Sequence[Any], whole: Sequence[Any], masks: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Puts the arguments together again, with traced values for the arrays.

        Args:
            split: one replica's blocks.
            whole: whole arrays.
            masks: one replica's masks.

        Returns:
            The positional and the keyword arguments; split leaves are `TracedPerReplica`.
        """
        blocks, wholes, others = (
            iter(zip(split, self.stacked, strict=True)),
            iter(whole),
            iter(self.others),
        )

        def value(leaf: Leaf) -> Any:
            if leaf.how == "split":
                block, stacked = next(blocks)
                mask = None if leaf.mask is None else masks[leaf.mask]
                return TracedPerReplica(block[0] if stacked else block, mask, leaf.mask)
            return next(wholes if leaf.how == "whole" else others)

        return jax.tree.unflatten(self.structure, [value(leaf) for leaf in self.leaves])


class Shortcut:
    """Recognises arguments like those of the last call, without taking them apart.

    Only for arguments that are nothing but per-replica values, as batches are.
    """

    __slots__ = ("_keys", "_mask_of", "_structure")

    def __init__(self, args: Sequence[Any], parts: Arguments) -> None:
        """Remembers the arguments of a call.

        Args:
            args: positional arguments, whose leaves are all `PerReplica`.
            parts: the same, taken apart.
        """
        self._structure = jax.tree.structure(tuple(args), is_leaf=is_per_replica)
        self._keys = [leaf.key for leaf in parts.leaves]
        self._mask_of = [leaf.mask for leaf in parts.leaves]

    def match(self, args: tuple[Any, ...]) -> tuple[list[jax.Array], list[RowMask]] | None:
        """Takes apart arguments of the same kind.

        Args:
            args: positional arguments.

        Returns:
            What is split, and the masks; None if the arguments are of another kind.
        """
        leaves, structure = jax.tree.flatten(args, is_leaf=is_per_replica)
        if structure != self._structure:
            return None
        masks: list[RowMask] = []
        split: list[jax.Array] = []
        for leaf, key, index in zip(leaves, self._keys, self._mask_of, strict=True):
            if type(leaf) is not PerReplica or leaf.key != key:
                return None
            # Two leaves may share one mask in one call, and not in the next.
            if _mask_index(masks, leaf.mask) != index:
                return None
            split.append(leaf.array)
        return split, masks


def shortcut(args: Sequence[Any], parts: Arguments) -> Shortcut | None:
    """Makes a shortcut for arguments like these, or None if they are of too many kinds.

    Args:
        args: positional arguments of a call without keyword arguments.
        parts: the same, taken apart.
    """
    if parts.leaves and all(leaf.how == "split" for leaf in parts.leaves):
        return Shortcut(args, parts)
    return None


def take_apart(
    args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Mesh, *, own: bool = False
) -> Arguments:
    """Takes the arguments of a call apart.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.
        mesh: where the step runs.
        own: whether each process passes arrays and numbers of its own, which its replicas get.

    Returns:
        Their parts.

    Raises:
        BatchError: an argument is a traced value of another transformation, or was split over
            another mesh.
    """
    leaves, structure = jax.tree.flatten((tuple(args), dict(kwargs)), is_leaf=_is_argument)
    parts = Arguments(structure)
    for leaf in leaves:
        parts.leaves.append(_add(parts, leaf, mesh, own))
    return parts


def _add(parts: Arguments, leaf: Any, mesh: Mesh, own: bool) -> Leaf:
    if isinstance(leaf, PerReplica):
        if leaf.mesh != mesh:
            raise BatchError(
                f"A batch was split over {leaf.mesh.devices.size} device(s), "
                f"{_device_names(leaf.mesh)}, but the step runs on {mesh.devices.size}, "
                f"{_device_names(mesh)}. Distribute the data with the strategy or mesh that runs the "
                "step."
            )
        mask = _mask_index(parts.masks, leaf.mask)
        parts.split.append(leaf.array)
        parts.stacked.append(leaf.stacked)
        return Leaf("split", leaf.key, mask)
    if isinstance(leaf, Tracer):
        raise BatchError(
            f"An argument is a traced value ({leaf.aval}): the step is called inside jax.jit, "
            "jax.grad or another transformation. A step is a whole program: call it outside."
        )
    if isinstance(leaf, jax.Array):
        return _add_whole(parts, leaf, mesh, own, weak=getattr(leaf, "weak_type", False))
    if (
        isinstance(leaf, (np.ndarray, np.generic))
        and leaf.dtype != object
        and leaf.dtype.kind in "biufcV"
    ):
        array = np.asarray(leaf, jax.dtypes.canonicalize_dtype(leaf.dtype))
        if array.dtype != leaf.dtype and array.dtype.kind in "iu" and np.any(array != leaf):
            raise BatchError(
                f"An argument holds {leaf.dtype} values that do not fit into {array.dtype}, which JAX "
                'keeps while 64-bit types are off. Allow 64 bits with jax.config.update("jax_enable_x64", '
                "True), or map the values to smaller ones."
            )
        return _add_whole(parts, array, mesh, own)
    if type(leaf) in (int, float, complex):
        array = np.asarray(leaf, jax.dtypes.canonicalize_dtype(type(leaf)))
        return _add_whole(parts, array, mesh, own, weak=True)
    if isinstance(leaf, jax.ShapeDtypeStruct):
        parts.whole.append(leaf)
        return Leaf("whole", (leaf.shape, leaf.dtype, leaf.weak_type))
    parts.others.append(leaf)
    if is_thing(leaf):
        return Leaf("thing", id(leaf))
    try:
        hash(leaf)
    except TypeError:
        return Leaf("fixed", id(leaf))
    return Leaf("fixed", (type(leaf), leaf))


def _add_whole(parts: Arguments, array: Any, mesh: Mesh, own: bool, weak: bool = False) -> Leaf:
    if own:
        layout = layout_of(mesh)
        stacked = place_own([array[None]] * layout.local_replicas, layout)
        return _add(parts, PerReplica(stacked, layout.replicas, stacked=True), mesh, own)
    parts.whole.append(array)
    return Leaf("whole", (array.shape, array.dtype, weak))


def _mask_index(masks: list[RowMask], mask: RowMask | None) -> int | None:
    if mask is None:
        return None
    for index, known in enumerate(masks):
        if known is mask:
            return index
    masks.append(mask)
    return len(masks) - 1


def abstract(value: Any, sharding: Any) -> jax.ShapeDtypeStruct:
    """Describes an array as an input of a program.

    Args:
        value: array or description of one.
        sharding: how the program gets it.

    Returns:
        Shape, type and sharding.
    """
    return jax.ShapeDtypeStruct(
        jnp.shape(value) if not hasattr(value, "shape") else value.shape,
        value.dtype,
        sharding=sharding,
        weak_type=getattr(value, "weak_type", False),
    )


def _device_names(mesh: Mesh) -> str:
    names = [str(device) for device in mesh.devices.flat]
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


def _argument_name(path: Sequence[Any]) -> str:
    # The path starts in (args, kwargs).
    first, rest = path[0], path[1:]
    if first.idx == 0:
        return f"args{jax.tree_util.keystr(tuple(rest))}"
    return f"{rest[0].key}{jax.tree_util.keystr(tuple(rest[1:]))}"


def is_thing(value: Any) -> bool:
    """Tells whether an object holds variables, and so is not to be taken apart."""
    return not isinstance(value, _PLAIN) and adapter_of(value) is not None


def _is_argument(value: object) -> bool:
    return is_per_replica(value) or is_thing(value)


_PLAIN = (tuple, list, dict, PerReplica, jax.Array, np.ndarray, int, float, str, type(None))
