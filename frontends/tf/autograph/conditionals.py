"""Operators for `if`, and for conditional expressions."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from malt.operators.variables import Undefined

from frontends.tf.autograph.symbols import (
    Symbol,
    agreed_dtype,
    as_array,
    has_value,
    is_array,
    is_plain,
    is_traced,
    take_apart,
    text,
    value_of,
)
from frontends.tf.ops import carried
from frontends.tf.ops.convert import known
from frontends.tf.ops.map_stream import drawing_in_branch
from frontends.tf.ops.tensor_array import Form
from spmd.step import switch


@dataclasses.dataclass(frozen=True)
class _Fixed:
    """What is the same after both blocks, and no value of the program."""

    value: Any


_Leaf: TypeAlias = "_Fixed | jax.ShapeDtypeStruct"


def if_stmt(
    cond: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    symbol_names: Sequence[str],
    nouts: int,
    *,
    fills: bool = False,
) -> None:
    """Runs one of two blocks; if a traced value decides, both are traced.

    Args:
        cond: the condition.
        body: the block after `if`.
        orelse: the block after `else`.
        get_state: returns the values of the symbols that the blocks assign.
        set_state: assigns them.
        symbol_names: their names.
        nouts: how many of them, the first ones, are read later.
        fills: whether a symbol that has a value after one block only is zeros after the other.

    Raises:
        TypeError: a symbol has another type after one block than after the other.
        ValueError: it has another shape or structure, or no value, after one of them.
    """
    cond = known(value_of(cond))
    if not is_traced(cond):
        body() if cond else orelse()
        return
    if cond.size != 1:
        raise ValueError(
            f"The condition of an `if` has shape {cond.shape}, but it must be one value. Write "
            "tf.reduce_all(condition) or tf.reduce_any(condition)."
        )
    before = get_state()

    def branch(forms: list[Form] | None) -> None:
        values = _after_branches(
            cond, (body, orelse), get_state, set_state, symbol_names[:nouts], before, forms, fills
        )
        carried.ends_region(values)
        set_state((*values, *before[nouts:]))

    carried.settled(branch)


def _after_branches(
    cond: Any,
    blocks: Sequence[Callable[[], None]],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
    before: tuple[Any, ...],
    forms: list[Form] | None,
    fills: bool,
) -> list[Any]:
    """Traces both blocks.

    Args:
        cond: a traced condition.
        blocks: for True and for False.
        get_state: see `if_stmt`.
        set_state: see `if_stmt`.
        names: of the symbols that are read later.
        before: the values of all symbols before the blocks.
        forms: in which each `tf.TensorArray` is to come out of the blocks, see `carried`.
        fills: see `if_stmt`.

    Returns:
        The values of the symbols that are read later.
    """
    ends: list[list[Symbol]] = []
    plan: list[list[_Leaf]] = []
    seen: list[list[Form]] = []

    def run(block: Callable[[], None]) -> Callable[[], list[jax.Array]]:
        def call() -> list[jax.Array]:
            set_state(before)
            block()
            values = get_state()[: len(names)]
            if forms is None or len(carried.forms_of(values)) == len(forms):
                values = carried.held_as(values, forms)
            seen.append(carried.forms_of(values))
            ends.append([take_apart(*pair) for pair in zip(names, values, strict=True)])
            leaves = [leaf for symbol in ends[-1] for leaf in symbol.leaves]
            return [as_array(value_of(leaf)) for leaf in leaves if has_value(leaf)]

        return call

    def agree() -> list[Callable[[list[jax.Array]], list[jax.Array]]]:
        carried.agree(seen)
        after_body, after_orelse = ends
        pairs = zip(after_body, after_orelse, strict=True)
        plan.extend(_merged(one, other, fills) for one, other in pairs)
        return [functools.partial(_outputs, plan, end) for end in ends]

    try:
        calls = [drawing_in_branch(run(block)) for block in blocks]
        found = iter(switch(cond.reshape(()) == 0, calls, agree=agree))
    finally:
        set_state(before)
    return [
        (other if one.undefined else one).structure.unflatten(
            leaf.value if isinstance(leaf, _Fixed) else next(found) for leaf in leaves
        )
        for one, other, leaves in zip(*ends, plan, strict=True)
    ]


def _merged(one: Symbol, other: Symbol, fills: bool) -> list[_Leaf]:
    """Decides what a symbol is after both blocks.

    Args:
        one: what it is after the block of `if`.
        other: after that of `else`.
        fills: see `if_stmt`.

    Returns:
        What each of its leaves is.
    """
    if one.undefined != other.undefined:
        undefined, defined, branch = (one, other, "main") if one.undefined else (other, one, "else")
        if not fills and not undefined.is_unset_return:
            raise ValueError(
                f"'{one.name}' must also be initialized in the {branch} branch of the `if`, because a value that is "
                "known only when the program runs decides which one is taken."
            )
        return [_described(leaf) for leaf in defined.leaves]
    if one.structure != other.structure:
        names = [_kind(each) for each in (one, other)]
        raise TypeError(
            f"'{one.name}' is {names[0]} at the end of the main branch of an `if`, and {names[1]} at the end of "
            "the else branch. Assign the same structure in both: a value that is known only when the program runs "
            "decides which one is taken."
        )
    return [_merged_leaf(one.name, *pair) for pair in zip(one.leaves, other.leaves, strict=True)]


def _described(leaf: Any) -> _Leaf:
    if not is_array(leaf):
        return _Fixed(leaf)
    array = as_array(leaf)
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _merged_leaf(name: str, one: Any, other: Any) -> _Leaf:
    if one is other or (type(one) is type(other) and is_plain(one) and one == other):
        return _described(one) if isinstance(one, jax.Array) else _Fixed(one)
    if one is None or other is None:
        branch = "main" if one is None else "else"
        raise ValueError(
            f"'{name}' is None at the end of the {branch} branch of an `if`, and a value after the other. Assign a "
            "value in both: a tensor decides which one is taken when the program runs."
        )
    if not has_value(one) or not has_value(other):
        raise TypeError(
            f"'{name}' is {_shown(one)} after the main branch of an `if`, and {_shown(other)} after the else branch, but "
            "a value that is known only when the program runs decides which one is taken. It can only choose "
            "between tensors."
        )
    # A variable in one of them stands for what it holds.
    one, other = value_of(one), value_of(other)
    first, second = as_array(one), as_array(other)
    if first.shape != second.shape:
        raise ValueError(
            f"'{name}' has shape {first.shape} after the main branch of an `if`, and {second.shape} after the "
            "else branch. Programs have fixed shapes: pad to one shape, or choose elementwise with tf.where."
        )
    dtype = agreed_dtype(one, other)
    if dtype is None:
        raise TypeError(
            f"'{name}' must have the same dtype in both branches of an `if`, but it is {first.dtype} after the "
            f"main branch, and {second.dtype} after the else branch. Cast one of them: tf.cast(x, tf.{first.dtype})."
        )
    return jax.ShapeDtypeStruct(first.shape, dtype)


def _shown(leaf: Any) -> str:
    return f"a tensor ({text(leaf)})" if isinstance(leaf, jax.Array) else f"{leaf!r:.80}"


def _kind(symbol: Symbol) -> str:
    if symbol.leaves == (None,):
        return "None"
    value = symbol.structure.unflatten(["..."] * len(symbol.leaves))
    return "one value" if value == "..." else f"of the structure {value!r}"


def _outputs(
    plan: list[list[_Leaf]], end: list[Symbol], arrays: list[jax.Array]
) -> list[jax.Array]:
    """Makes what both blocks return of what one does."""
    rest = iter(arrays)
    found: list[jax.Array] = []
    for symbol, leaves in zip(end, plan, strict=True):
        own = [next(rest) if has_value(leaf) else None for leaf in symbol.leaves]
        if symbol.undefined:
            own = [None] * len(leaves)
        for leaf, array in zip(leaves, own, strict=True):
            if not isinstance(leaf, _Fixed):
                zeros = jnp.zeros(leaf.shape, leaf.dtype)
                found.append(zeros if array is None else array.astype(leaf.dtype))
    return found


def if_exp(
    cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str
) -> Any:
    """Computes a conditional expression, `a if cond else b`.

    Args:
        cond: the condition.
        if_true: computes `a`.
        if_false: computes `b`.
        expr_repr: the condition's text, as malt rewrote it.
    """
    cond = known(value_of(cond))
    if not is_traced(cond):
        return if_true() if cond else if_false()
    name = "the value of a conditional expression"
    held: tuple[Any, ...] = (Undefined(name),)

    def get_state() -> tuple[Any, ...]:
        return held

    def set_state(values: tuple[Any, ...]) -> None:
        nonlocal held
        held = values

    if_stmt(
        cond,
        lambda: set_state((if_true(),)),
        lambda: set_state((if_false(),)),
        get_state,
        set_state,
        (name,),
        1,
    )
    return held[0]
