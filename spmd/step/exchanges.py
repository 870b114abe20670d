"""What collectives do, in a program that holds the values of all replicas (`lockstep`).

There, a collective is arithmetic on the replicas' values. Replicas are in *groups*, whose members' values are
stacked, and the result is wanted in the same form.
"""

import functools
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.extend.core import JaxprEqn

from spmd import _jax_internals
from spmd.errors import BatchError

# The value that each group has, and whether its members have values of their own: stacked, if there are several.
_Parts: TypeAlias = Mapping[int, tuple[Any, bool]]

_Fold: TypeAlias = Callable[[Any, Any], Any]
_FOLDS: Mapping[str, _Fold] = {
    "psum": operator.add,
    "psum_invariant": operator.add,
    "pmax": jnp.maximum,
    "pmin": jnp.minimum,
}
_OVER_MEMBERS: Mapping[str, Callable[..., Any]] = {"pmax": jnp.max, "pmin": jnp.min}
# Only say how a value is to be seen.
_NOTHING = frozenset({"pvary", "pcast"})


class Exchange:
    """Collectives between the replicas of groups."""

    def __init__(
        self,
        members: Sequence[Sequence[int]],
        once: Callable[[Hashable, Sequence[Any], Callable[[], Any]], Any],
    ) -> None:
        """Prepares collectives.

        Args:
            members: the replicas of each group.
            once: makes something of operands, unless that was made before.
        """
        self._members = members
        self._replicas = sum(map(len, members))
        self._once = once

    def combine(self, equation: JaxprEqn, parts: _Parts, same: bool) -> dict[int, tuple[Any, bool]]:
        """Does a collective on one operand.

        Args:
            equation: the collective.
            parts: its operand.
            same: whether that is one value on all replicas.

        Returns:
            The result.

        Raises:
            BatchError: replicas cannot combine what they have, because the shapes differ.
        """
        name, params = equation.primitive.name, equation.params
        if name in _NOTHING:
            return dict(parts)
        self._check_shapes(equation, parts)
        groups = params.get("axis_index_groups")
        if name in _FOLDS and groups is None:
            return dict.fromkeys(parts, (self._folded(name, parts, same), False))
        if name in ("all_gather", "all_gather_invariant") and groups is None:
            axis, tiled = params["all_gather_dimension"], params["tiled"]
            whole = _joined(self.stacked(parts), axis, tiled)
            return dict.fromkeys(parts, (whole, False))
        return self._by_replica(equation, self.each(parts, same), groups)

    def stacked(self, parts: _Parts) -> Any:
        """Stacks the values of all replicas, in their order."""
        arrays: list[Any] = []
        for group, (array, own) in parts.items():
            count = len(self._members[group])
            array = jnp.asarray(array)
            stack = own and count > 1
            arrays.append(array if stack else jnp.broadcast_to(array, (count, *array.shape)))
        whole = jnp.concatenate(arrays) if len(arrays) > 1 else arrays[0]
        order = [replica for group in parts for replica in self._members[group]]
        if order == sorted(order):
            return whole
        return whole[jnp.array(sorted(range(len(order)), key=order.__getitem__))]

    def _check_shapes(self, equation: JaxprEqn, parts: _Parts) -> None:
        shapes: dict[int, tuple[int, ...]] = {}
        for group, (array, own) in parts.items():
            stack = own and len(self._members[group]) > 1
            shapes |= dict.fromkeys(self._members[group], jnp.shape(array)[1 if stack else 0 :])
        if len(set(shapes.values())) > 1:
            line = _jax_internals.user_line(equation)
            raise BatchError(
                f"Replicas combine values ({equation.primitive.name}{(line and ' at ' + line) or ''}) whose shapes "
                f"differ, because they have different numbers of rows: {[shapes[i] for i in sorted(shapes)]}. "
                "Combine what has one shape, such as a sum over rows."
            )

    def total(self, parts: _Parts, same: bool) -> Any:
        """Sums what all replicas have."""
        return self._folded("psum", parts, same)

    def _folded(self, name: str, parts: _Parts, same: bool) -> Any:
        if same:
            array = next(iter(parts.values()))[0]
            if name in _OVER_MEMBERS:
                return array
            # As many times as there are replicas; the same product for all who ask.
            return self._once(name, [array], lambda: array * _like(self._replicas, array))
        reduced: list[Any] = []
        for group, (array, own) in parts.items():
            count = len(self._members[group])
            if own and count > 1:
                over = _OVER_MEMBERS.get(name)
                array = over(array, axis=0) if over else jnp.sum(array, axis=0, dtype=array.dtype)
            elif name not in _OVER_MEMBERS and count > 1:
                array = array * _like(count, array)
            reduced.append(array)
        return functools.reduce(_FOLDS[name], reduced)

    def each(self, parts: _Parts, same: bool) -> list[Any]:
        """Lists what each replica has; what several share is one object."""
        each: dict[int, Any] = {}
        for group, (array, own) in parts.items():
            for index, replica in enumerate(self._members[group]):
                stack = own and not same and len(self._members[group]) > 1
                each[replica] = (
                    self._once(("member", index), [array], functools.partial(_at, array, index))
                    if stack
                    else array
                )
        return [each[replica] for replica in sorted(each)]

    def _by_replica(
        self, equation: JaxprEqn, each: list[Any], groups: Any
    ) -> dict[int, tuple[Any, bool]]:
        """Does a collective replica by replica."""
        name, params = equation.primitive.name, equation.params
        results: list[Any] = list(each)
        for group in groups or [range(self._replicas)]:
            mine = [each[replica] for replica in group]
            made = self._among(name, params, mine)
            for replica, result in zip(group, made, strict=True):
                results[replica] = result
        return self.regrouped(results)

    def _among(self, name: str, params: Mapping[str, Any], mine: list[Any]) -> list[Any]:
        """Returns what each replica of a group gets, of what they have."""
        count = len(mine)

        def total(fold: str) -> Any:
            return self._once(("fold", fold), mine, lambda: functools.reduce(_FOLDS[fold], mine))

        if name in _FOLDS:
            return [total(name)] * count
        match name:
            case "all_gather" | "all_gather_invariant":
                axis, tiled = params["all_gather_dimension"], params["tiled"]
                whole = self._once(
                    ("gather", axis, tiled), mine, lambda: _joined(jnp.stack(mine), axis, tiled)
                )
                return [whole] * count
            case "reduce_scatter" | "psum_scatter":
                whole, axis = total("psum"), params["scatter_dimension"]
                return [
                    self._once(
                        ("part", axis, params["tiled"], count, i),
                        [whole],
                        functools.partial(_part, whole, axis, params["tiled"], count, i),
                    )
                    for i in range(count)
                ]
            case "ppermute":
                sources = {target: source for source, target in params["perm"]}
                nothing = jnp.zeros_like(mine[0])
                return [mine[sources[i]] if i in sources else nothing for i in range(count)]
            case "all_to_all":
                split, axis = params["split_axis"], params["concat_axis"]
                return [
                    _assembled(
                        [_part(value, split, params["tiled"], count, i) for value in mine],
                        axis,
                        params["tiled"],
                    )
                    for i in range(count)
                ]
            case _:
                raise BatchError(
                    f"The collective {name} cannot combine replicas that have different numbers of rows. Use "
                    "another one, or drop the last batch: dataset.batch(size, drop_remainder=True)."
                )

    def regrouped(self, results: Sequence[Any]) -> dict[int, tuple[Any, bool]]:
        """Puts what each replica gets into the form of operands."""
        common = all(result is results[0] for result in results)
        found: dict[int, tuple[Any, bool]] = {}
        for group, members in enumerate(self._members):
            mine = [results[replica] for replica in members]
            if common or len(mine) == 1:
                found[group] = mine[0], not common
            else:
                stack = jnp.stack(mine)
                for index, one in enumerate(mine):  # known again when it is taken apart
                    self._once(("member", index), [stack], functools.partial(lambda x: x, one))
                found[group] = stack, True
        return found


def _like(number: int, array: Any) -> Any:
    return jnp.asarray(number, jnp.result_type(array))


def _at(array: Any, index: int) -> Any:
    return array[index]


def _joined(stack: Any, axis: int, tiled: bool) -> Any:
    """Joins blocks, stacked along the first axis, along another one; or stacks them along it."""
    moved = jnp.moveaxis(stack, 0, axis)
    if not tiled:
        return moved
    shape = moved.shape
    return moved.reshape(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])


def _part(array: Any, axis: int, tiled: bool, count: int, index: int) -> Any:
    """Takes one of the equal parts of an array along an axis, which goes away if it is not tiled."""
    size = array.shape[axis] // count
    part = jax.lax.slice_in_dim(array, index * size, (index + 1) * size, axis=axis)
    return part if tiled else jnp.squeeze(part, axis)


def _assembled(parts: list[Any], axis: int, tiled: bool) -> Any:
    return jnp.concatenate(parts, axis) if tiled else jnp.stack(parts, axis)
