"""`tf.while_loop`: eagerly Python's loop, so that functions see values and gradients flow through them.

In a program the functions are traced, and may assign variables.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.data.tracing import run_as_python
from frontends.tf.ops import carried
from frontends.tf.ops.convert import convert_to_tensor, known
from frontends.tf.ops.rows import array_of, differ
from spmd import _jax_internals
from spmd.errors import ControlFlowError

# A loop that takes at most so many turns gets a gradient always; a longer one only under a tape, because then it
# takes all of them, the last ones without doing anything.
_ALWAYS_BOUNDED = 1_000


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Nested,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike = None,
    name: str | None = None,
) -> Any:
    """Repeats `body` while `cond` holds.

    For its gradient, a program keeps the values of all turns if `maximum_iterations` is known while tracing; else it
    keeps some, and computes the others again.

    Args:
        cond: takes the loop variables, returns a truth value.
        body: takes them, returns the next ones; in a program of the same shapes and dtypes.
        loop_vars: list or tuple of values, structures of them, or TensorArrays.
        shape_invariants: XLA's arrays keep their shapes. Where this lets them change, and they do, a `tf.function` runs
            as Python, and a replica's function raises.
        maximum_iterations: how often the body runs at most.

    Returns:
        The last loop variables, in the structure of `loop_vars`.

    Raises:
        TypeError: a function cannot be called; or in a program a loop variable changes its shape or dtype.
        ValueError: there are no loop variables, or the body returns another structure.

    Source: `tf.while_loop`.
    """
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"tf.while_loop: '{what}' must be callable, got {function!r}.")
    several = isinstance(loop_vars, list | tuple)
    if several and not loop_vars:
        raise ValueError("tf.while_loop: no loop variables provided. Give at least one.")
    start: Any = nest.map_structure(array_of, tuple(loop_vars) if several else (loop_vars,))

    def turn(now: Nested) -> Any:
        result = body(*now)
        result = tuple(result) if isinstance(result, list | tuple) and several else (result,)
        if len(start) == 1 and differ(start, result) and not differ(start, (result,)):
            # The one loop variable is a structure, and the body returned it bare.
            result = (result,)
        nest.assert_same_structure(start, result, check_types=False)
        return nest.pack_sequence_as(start, map(array_of, nest.flatten(result)))

    limit = _limit(maximum_iterations)
    if _jax_internals.is_tracing():
        try:
            last = _while_in_program(cond, turn, start, limit)
        except ControlFlowError:
            if shape_invariants is not None:
                run_as_python(
                    "In a tf.while_loop arrays change their shape, as its shape_invariants say. Start with an array of the "
                    "final size, or collect the turns' results in a tf.TensorArray."
                )
            raise
    else:
        last, count = start, 0
        while (limit is None or count < limit) and bool(_truth(cond(*last))):
            last, count = turn(last), count + 1
    return nest.pack_sequence_as(loop_vars, nest.flatten(last))


def _while_in_program(
    cond: Callable[..., Any], turn: Callable[[Nested], Any], start: Nested, limit: Any
) -> Any:
    def test(carry: Any) -> Any:
        count, now = carry
        holds = _truth(cond(*now))
        return holds if limit is None else holds & (count < limit)

    def one(carry: Any) -> tuple[Any, None]:
        count, now = carry
        return (count + 1, turn(now)), None

    turns = limit if isinstance(limit, int) else None
    bounded = turns is not None and (turns <= _ALWAYS_BOUNDED or _jax_internals.is_interposed())
    (_, last), _ = carried.while_loop(
        test, one, (jnp.int32(0), start), bound=turns if bounded else None, turns=turns
    )
    return last


def _limit(maximum_iterations: TensorLike) -> Any:
    """Returns the number, Python's where it is known."""
    if maximum_iterations is None:
        return None
    limit = known(maximum_iterations)
    if not isinstance(limit, int | np.generic | np.ndarray):
        limit = known(convert_to_tensor(limit))
    return limit if isinstance(limit, Tracer) else max(int(np.asarray(limit).item()), 0)


def _truth(value: TensorLike) -> Any:
    truth = convert_to_tensor(value)
    if truth.size != 1:
        raise ValueError(
            f"tf.while_loop: cond must return one truth value, but returned an array of shape {truth.shape}. "
            "Reduce it: tf.reduce_all(...) or tf.reduce_any(...)."
        )
    return truth.astype(bool).reshape(())
