"""The arguments of a step: what is split, what is whole, what holds state, and what is fixed.

Each leaf of the arguments has one of these roles. *Split*: a `PerReplica`; every replica gets its block.
*Whole*: an array; every replica gets all of it. *Stateful*: an object that holds variables, such as a
module; they are lifted. *Fixed*: anything else (a bool, a string, an enumeration); it is part of the
program, and another value makes another program. A Python number is whole or fixed, see `python_numbers`.
"""

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding

from spmd.errors import BatchError, Remedy, some_of
from spmd.replica import HostPerReplica, PerReplica, RowMask, TracedPerReplica, is_per_replica
from spmd.state import adapter_of
from spmd.step.python_numbers import NUMBERS, Place, as_traced, number_key
from spmd.topology import layout_of, place_own
from spmd.typing import AnyArray, PyTree, Stateful, TreeStructure

Role = Literal["split", "whole", "stateful", "fixed"]


class Leaf(NamedTuple):
    """How one leaf of the arguments enters a step.

    Attributes:
        role: see above.
        key: what a program depends on: shape and type, or the value itself.
        mask: index of the mask, of a split leaf with rows.
        weak: whether its type gives way to others, as that of a Python number.
    """

    role: Role
    key: Hashable
    mask: int | None = None
    weak: bool = False


class ArgumentsKey(NamedTuple):
    """What a program depends on of its arguments; `counts` only if it is made for these numbers of valid rows."""

    structure: TreeStructure
    leaves: tuple[Leaf, ...]
    counts: tuple[tuple[int, ...], ...] = ()


@dataclasses.dataclass
class Arguments:
    """The arguments of one call, taken apart.

    Attributes:
        structure: structure of `(args, kwargs)`.
        leaves: one for every leaf of it.
        split: arrays that are split over the replicas.
        stacked: for each of them, whether blocks are stacked along a new axis.
        masks: the masks of batches among them, each once.
        whole: arrays and traced numbers that every replica gets.
        others: stateful objects and fixed values, in order.
        numbers: where Python numbers stand among them: which are static, and which are traced.
        unequal: whether they ask for a program that is made for the rows that each replica has.
    """

    structure: TreeStructure
    leaves: list[Leaf] = dataclasses.field(default_factory=list[Leaf])
    split: list[jax.Array] = dataclasses.field(default_factory=list[jax.Array])
    stacked: list[bool] = dataclasses.field(default_factory=list[bool])
    masks: list[RowMask] = dataclasses.field(default_factory=list[RowMask])
    whole: list[Any] = dataclasses.field(default_factory=list[Any])
    others: list[Any] = dataclasses.field(default_factory=list[Any])
    numbers: dict[Place, bool] = dataclasses.field(default_factory=dict[Place, bool])
    unequal: bool = False

    @property
    def key(self) -> ArgumentsKey:
        """What a compiled program depends on."""
        counts = tuple(mask.counts for mask in self.masks) if self.unequal else ()
        return ArgumentsKey(self.structure, tuple(self.leaves), counts)

    @property
    def owners(self) -> list[int | None]:
        """For each array that is split, the index of its mask."""
        return [leaf.mask for leaf in self.leaves if leaf.role == "split"]

    @property
    def have_shortcut(self) -> bool:
        """Whether they are per-replica values and plain fixed ones, and nothing else."""
        roles = [leaf.role for leaf in self.leaves]
        plain = all(type(one) in _SIMPLE for one in self.others)
        return (
            "split" in roles and "whole" not in roles and plain and not any(self.numbers.values())
        )

    @property
    def static_numbers(self) -> list[Hashable]:
        """The keys of the Python numbers that are part of the program."""
        return [self.leaves[place[1]].key for place, traced in self.numbers.items() if not traced]

    def stateful(self) -> list[tuple[str, Stateful]]:
        """Lists the objects that may hold state, by the arguments that they were passed as."""
        others = iter(self.others)
        return [
            (name, next(others))
            for name, leaf in zip(self._names(), self.leaves, strict=True)
            if leaf.role in ("stateful", "fixed")
        ]

    def names(self, role: Role) -> list[str]:
        """Names the arguments of a role."""
        pairs = zip(self._names(), self.leaves, strict=True)
        return [name for name, leaf in pairs if leaf.role == role]

    def _names(self) -> list[str]:
        return argument_names(self.structure)

    def abstract(
        self, rows: NamedSharding | None = None, whole: NamedSharding | None = None
    ) -> tuple[list[jax.ShapeDtypeStruct], ...]:
        """Describes what is split, the masks and what is whole as inputs of a program.

        Args:
            rows: how the program gets arrays that are split, and masks.
            whole: how it gets whole arrays.
        """

        def weak(role: Role) -> list[bool]:
            return [leaf.weak for leaf in self.leaves if leaf.role == role]

        return (
            [
                abstract(array, rows, flag)
                for array, flag in zip(self.split, weak("split"), strict=True)
            ],
            [abstract(mask.array, rows) for mask in self.masks],
            [
                abstract(array, whole, flag)
                for array, flag in zip(self.whole, weak("whole"), strict=True)
            ],
        )

    def with_rows(self, rows: Sequence[int]) -> "Arguments":
        """Describes arguments with other numbers of rows, none of which is padding.

        Args:
            rows: for each mask, the rows that every replica has.
        """

        def described(array: jax.Array, owner: int | None, stacked: bool) -> Any:
            shape = array.shape
            if owner is not None and stacked:
                shape = (shape[0], rows[owner], *shape[2:])
            elif owner is not None:
                shape = (len(self.masks[owner].counts) * rows[owner], *shape[1:])
            return jax.ShapeDtypeStruct(shape, array.dtype)

        leaves = zip(self.split, self.owners, self.stacked, strict=True)
        masks = [
            RowMask(described(mask.array, index, False), (count,) * len(mask.counts), count)
            for index, (mask, count) in enumerate(zip(self.masks, rows, strict=True))
        ]
        return dataclasses.replace(self, split=[described(*leaf) for leaf in leaves], masks=masks)

    def rebuild(
        self, split: Sequence[jax.Array], whole: Sequence[jax.Array], masks: Sequence[jax.Array]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Puts the arguments together again, with traced values for the arrays.

        Args:
            split: one replica's blocks.
            whole: whole arrays.
            masks: one replica's masks.

        Returns:
            The positional and the keyword arguments; split leaves are `TracedPerReplica`.
        """
        blocks = iter(zip(split, self.stacked, strict=True))
        wholes, others = iter(whole), iter(self.others)

        def value(leaf: Leaf) -> Any:
            if leaf.role == "split":
                block, stacked = next(blocks)
                mask = None if leaf.mask is None else masks[leaf.mask]
                return TracedPerReplica(block[0] if stacked else block, mask, leaf.mask)
            return next(wholes if leaf.role == "whole" else others)

        return self.structure.unflatten(map(value, self.leaves))


class Shortcut:
    """Recognises arguments like those of the last call, without taking them apart.

    Only for arguments that are per-replica values, as batches are, and plain values that are fixed.
    """

    __slots__ = ("_keys", "_mask_of", "_structure")

    def __init__(self, args: Sequence[PyTree], parts: Arguments) -> None:
        """Remembers the arguments of a call.

        Args:
            args: positional arguments, which `have_shortcut`.
            parts: the same, taken apart.
        """
        self._structure = jax.tree.structure(tuple(args), is_leaf=is_per_replica)
        self._keys = [leaf.key for leaf in parts.leaves]
        self._mask_of = [leaf.mask for leaf in parts.leaves]

    def match(self, args: tuple[PyTree, ...]) -> tuple[list[AnyArray], list[RowMask]] | None:
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
        split: list[AnyArray] = []
        for leaf, key, index in zip(leaves, self._keys, self._mask_of, strict=True):
            if type(leaf) is not PerReplica:
                if type(leaf) not in _SIMPLE or _fixed_key(leaf) != key:
                    return None
                continue
            if leaf.key != key:
                return None
            # Two leaves may share one mask in one call, and not in the next.
            if _mask_index(masks, leaf.mask) != index:
                return None
            split.append(leaf.array if leaf.host is None else leaf.host)
        return split, masks


def take_apart(
    args: Sequence[PyTree],
    kwargs: Mapping[str, PyTree],
    mesh: Mesh,
    *,
    own: bool = False,
    is_traced: Callable[[TreeStructure, int, type], bool] = lambda *place: False,
) -> Arguments:
    """Takes the arguments of a call apart.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.
        mesh: where the step runs.
        own: whether each process passes arrays and numbers of its own, which its replicas get.
        is_traced: whether a Python number, by its `Place`, is traced.

    Returns:
        Their parts.

    Raises:
        BatchError: an argument is a traced value of another transformation, or was split over
            another mesh.
    """
    leaves, structure = jax.tree.flatten((tuple(args), dict(kwargs)), is_leaf=is_argument)
    parts = Arguments(structure)
    for index, leaf in enumerate(leaves):
        if type(leaf) in NUMBERS:
            place = structure, index, type(leaf)
            array = as_traced(leaf) if is_traced(*place) else None
            parts.numbers[place] = array is not None
            if array is not None:
                parts.leaves.append(_add_whole(parts, array, mesh, own, weak=True))
                continue
        parts.leaves.append(_add(parts, leaf, mesh, own))
    return parts


def _add(parts: Arguments, leaf: object, mesh: Mesh, own: bool) -> Leaf:
    if isinstance(leaf, PerReplica):
        if leaf.mesh != mesh:
            raise BatchError(
                f"A batch was split over {leaf.mesh.devices.size} device(s), "
                f"{some_of(list(leaf.mesh.devices.flat))}, but the step runs on {mesh.devices.size}, "
                f"{some_of(list(mesh.devices.flat))}. Distribute the data over the mesh that runs the "
                f"step: {Remedy.DISTRIBUTE.spelled()}."
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
    if is_numeric(leaf):
        array = np.asarray(leaf, jax.dtypes.canonicalize_dtype(leaf.dtype))
        if array.dtype != leaf.dtype and array.dtype.kind in "iu" and np.any(array != leaf):
            raise BatchError(
                f"An argument holds {leaf.dtype} values that do not fit into {array.dtype}, which JAX "
                'keeps while 64-bit types are off. Allow 64 bits with jax.config.update("jax_enable_x64", '
                "True), or map the values to smaller ones."
            )
        return _add_whole(parts, array, mesh, own)
    if isinstance(leaf, jax.ShapeDtypeStruct):
        parts.whole.append(leaf)
        return Leaf("whole", (leaf.shape, leaf.dtype), weak=leaf.weak_type)
    if isinstance(leaf, HostPerReplica):
        parts.others.append(leaf.in_step())
        return Leaf("fixed", HostPerReplica if leaf.is_text else id(leaf))
    parts.others.append(leaf)
    if is_stateful(leaf):
        return Leaf("stateful", id(leaf))
    return Leaf("fixed", _fixed_key(leaf))


def _fixed_key(leaf: Any) -> Hashable:
    if type(leaf) in NUMBERS:
        return number_key(leaf)
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return type(leaf), leaf


def _add_whole(
    parts: Arguments, array: AnyArray, mesh: Mesh, own: bool, weak: bool = False
) -> Leaf:
    if own:
        layout = layout_of(mesh)
        stacked = place_own([array[None]] * layout.local_replicas, layout)
        own_values = PerReplica(stacked, layout.replicas, stacked=True)
        return _add(parts, own_values, mesh, own)._replace(weak=weak)
    parts.whole.append(array)
    return Leaf("whole", (array.shape, array.dtype), weak=weak)


def _mask_index(masks: list[RowMask], mask: RowMask | None) -> int | None:
    if mask is None:
        return None
    for index, known in enumerate(masks):
        if known is mask:
            return index
    masks.append(mask)
    return len(masks) - 1


def abstract(
    value: AnyArray | jax.ShapeDtypeStruct,
    sharding: NamedSharding | None = None,
    weak_type: bool | None = None,
) -> jax.ShapeDtypeStruct:
    """Describes an array as an input of a program.

    Args:
        value: array or description of one.
        sharding: how the program gets it.
        weak_type: whether its type is weak; None asks the array.

    Returns:
        Shape, type and sharding.
    """
    weak = bool(getattr(value, "weak_type", False) if weak_type is None else weak_type)
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=sharding, weak_type=weak)


def argument_names(structure: TreeStructure) -> list[str]:
    """Names the leaves of arguments: `args[0]['x']`, `scale`.

    Args:
        structure: of `(args, kwargs)`.
    """
    paths = jax.tree_util.tree_leaves_with_path(structure.unflatten(range(structure.num_leaves)))
    return [_argument_name(path) for path, _ in paths]


def _argument_name(path: Sequence[Any]) -> str:
    # The path starts in (args, kwargs).
    first, rest = path[0], path[1:]
    if first.idx == 0:
        return f"args{jax.tree_util.keystr(tuple(rest))}"
    return f"{rest[0].key}{jax.tree_util.keystr(tuple(rest[1:]))}"


def is_numeric(value: object) -> TypeGuard[np.ndarray[Any, Any] | np.generic]:
    """Tells whether a value is an array on the host, or a scalar of one, with elements that devices hold."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcV"


def is_stateful(value: object) -> bool:
    """Tells whether an object holds variables, and so is not to be taken apart."""
    return not isinstance(value, _PLAIN) and adapter_of(value) is not None


def is_argument(value: object) -> bool:
    """Tells whether a value is a leaf of the arguments: taken apart, objects with state would be copies."""
    return is_per_replica(value) or is_stateful(value)


_PLAIN = (tuple, list, dict, PerReplica, jax.Array, np.ndarray, int, float, str, type(None))
# Fixed values that are quick to compare, and hold nothing.
_SIMPLE = frozenset((bool, *NUMBERS, str, bytes))
