"""Gradients of loops whose number of turns only the running program knows.

Going back needs the values of every turn, and a program has fixed memory. So few are kept, and the others are
computed again. A segment of the loop is divided into as many parts as there are *slots*, each of which holds the
values that a part begins with; the parts are divided likewise; and from there turns are computed anew. Up to 1,024 turns
cost three times the loop itself, as much as the gradient of a turn; up to 30,000 some twenty times.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd.errors import ControlFlowError, Remedy

# A turn takes the constants and the values, and returns whether the loop goes on, and the next values.
Turn = Callable[[Sequence[Any], Sequence[Any]], tuple[Any, list[Any]]]
_Carry = tuple[list[Any], list[Any]]

# Each takes as much memory as the values of a turn.
_SLOTS = 32


def repeat(turn: Turn, constants: Sequence[Any], goes_on: Any, values: Sequence[Any]) -> list[Any]:
    """Takes turns until one says that the loop ends; the result has a gradient.

    Args:
        turn: pure; called several times, to be traced.
        constants: arrays that it takes.
        goes_on: whether to take a turn at all.
        values: arrays that go into the first turn.

    Returns:
        The values that the last turn left.
    """

    def forward(constants: Sequence[Any], goes_on: Any, values: Sequence[Any]) -> Any:
        def body(now: Any) -> Any:
            count, _, values = now
            return count + 1, *turn(constants, values)

        return jax.lax.while_loop(lambda now: now[1], body, (jnp.int32(0), goes_on, list(values)))

    @jax.custom_vjp
    def run(constants: Sequence[Any], goes_on: Any, values: Sequence[Any]) -> list[Any]:
        return forward(constants, goes_on, values)[2]

    def keep(constants: Sequence[Any], goes_on: Any, values: Sequence[Any]) -> tuple[Any, Any]:
        count, _, last = forward(constants, goes_on, values)
        return last, (constants, values, count)

    def back(kept: Any, cotangents: list[Any]) -> tuple[Any, None, Any]:
        constants, values, count = kept
        weights = [one for one, is_real in _with_kinds(cotangents, values) if is_real]
        of_constants, of_values = _gradient(turn, constants, values, count, weights)
        return _filled(constants, of_constants), None, _filled(values, of_values)

    run.defvjp(keep, back)
    return run(list(constants), goes_on, list(values))


def refuse_gradient(values: Any) -> Any:
    """Returns what a loop left that cannot be run again, so that no gradient of it can be taken.

    Args:
        values: pytree of arrays.
    """
    return _without_gradient(
        values,
        "A gradient was asked for through a loop that calls the host, for example to print, and whose number of turns "
        "is not known before it runs: going back runs turns again, and the host would be called again. Take the call "
        f"out of the loop, or give {Remedy.BOUND_LOOP.spelled()}.",
    )


def _gradient(
    turn: Turn, constants: Sequence[Any], values: Sequence[Any], count: Any, weights: list[Any]
) -> _Carry:
    """Goes back through a loop.

    Args:
        turn: see `repeat`.
        constants: likewise.
        values: likewise.
        count: how many turns it took.
        weights: cotangents of those values that have a gradient.

    Returns:
        Cotangents of the constants and values that have one.
    """
    real = [one for one in constants if _is_real(one)]

    def advance(values: list[Any], turns: Any) -> list[Any]:
        return jax.lax.fori_loop(0, turns, lambda _, now: turn(constants, now)[1], values)

    def pull(values: list[Any], carry: _Carry) -> _Carry:
        def of_real(some_constants: list[Any], some_values: list[Any]) -> list[Any]:
            _, new = turn(_replaced(constants, some_constants), _replaced(values, some_values))
            return [one for one in new if _is_real(one)]

        _, pullback = jax.vjp(of_real, real, [one for one in values if _is_real(one)])
        of_constants, of_values = pullback(carry[1])
        return list(map(jnp.add, carry[0], of_constants)), of_values

    def in_parts(visit: Callable[..., _Carry], values: list[Any], turns: Any, carry: _Carry) -> Any:
        """Goes back part by part, from the last to the first."""
        length = jnp.maximum(-(-turns // _SLOTS), 1)
        parts = -(-turns // length)

        def fill(index: Any, now: Any) -> Any:
            slots, values = now
            slots = [_put(slot, value, index) for slot, value in zip(slots, values, strict=True)]
            # Not beyond the end, where a turn may take for ever.
            return slots, advance(values, jnp.where(index + 1 < parts, length, 0))

        empty = [jnp.broadcast_to(one, (_SLOTS, *one.shape)) for one in values]
        slots, _ = jax.lax.fori_loop(0, parts, fill, (empty, values))

        def visit_part(number: Any, carry: _Carry) -> _Carry:
            index = parts - 1 - number
            begin = [_take(slot, index) for slot in slots]
            return visit(begin, jnp.minimum(length, turns - index * length), carry)

        return jax.lax.fori_loop(0, parts, visit_part, carry)

    def one_by_one(values: list[Any], turns: Any, carry: _Carry) -> _Carry:
        return jax.lax.fori_loop(
            0, turns, lambda number, now: pull(advance(values, turns - 1 - number), now), carry
        )

    zeros = list(map(jnp.zeros_like, real))
    found = in_parts(functools.partial(in_parts, one_by_one), list(values), count, (zeros, weights))
    return _without_gradient(
        found,
        "A gradient was asked for of the gradient of a loop whose number of turns is not known before it runs. Give "
        f"{Remedy.BOUND_LOOP.spelled()}.",
    )


def _is_real(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jnp.inexact)


def _with_kinds(items: Sequence[Any], values: Sequence[Any]) -> Any:
    return zip(items, map(_is_real, values), strict=True)


def _replaced(values: Sequence[Any], real: Sequence[Any]) -> list[Any]:
    rest = iter(real)
    return [next(rest) if _is_real(one) else one for one in values]


def _filled(values: Sequence[Any], real: Sequence[Any]) -> list[Any]:
    """Puts None where a value has no gradient."""
    rest = iter(real)
    return [next(rest) if _is_real(one) else None for one in values]


def _put(slot: Any, value: Any, index: Any) -> Any:
    return jax.lax.dynamic_update_index_in_dim(slot, value, index, 0)


def _take(slot: Any, index: Any) -> Any:
    return jax.lax.dynamic_index_in_dim(slot, index, 0, keepdims=False)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _without_gradient(values: Any, message: str) -> Any:
    """Returns values of which no gradient can be taken."""
    # Copies: recordings take a function that returns its argument for none at all.
    return jax.tree.map(jnp.copy, values)


def _refuse(message: str, _: None, cotangents: Any) -> Any:
    raise ControlFlowError(message)


_without_gradient.defvjp(lambda values, message: (jax.tree.map(jnp.copy, values), None), _refuse)
