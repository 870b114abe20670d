"""Calls from a program to the host.

In a replica each replica calls, as in TensorFlow. Between the replicas every device runs the same code; there one
call is made for each process.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.host_errors import expect_errors, record_error
from spmd.replica import axis_index, current_frame, on_first_device, over_axis, replica_id


def tell_host(function: Callable[..., object], *arrays: Any) -> None:
    """Calls a function on the host whenever the program runs; its result is dropped.

    Args:
        function: takes the arrays, as NumPy's. What it raises, the program's caller raises.
        *arrays: of the program.
    """
    expect_errors()
    index, first = _speakers()

    def call(index: Any, *values: Any) -> None:
        if first is None or int(index) in first:
            try:
                function(*map(np.asarray, values))
            except Exception as error:
                record_error(error)

    call_back(call, index, *arrays)


def call_back(function: Callable[..., None], *arrays: Any) -> None:
    """Calls a function on the host, as `jax.debug.callback` does, once for each replica that gets here."""

    def tell(*values: Any) -> list[jax.Array]:
        jax.debug.callback(function, *values)
        return []

    # jax.debug.callback does it by itself, but fails where there are several model axes.
    on_first_device(tell, *arrays)


def ask_host(
    function: Callable[..., Sequence[Any]],
    results: Sequence[jax.ShapeDtypeStruct],
    *arrays: Any,
    stateful: bool,
) -> list[Any]:
    """Calls a function on the host whenever the program runs, and goes on with what it returns.

    Args:
        function: takes the arrays, as NumPy's; returns NumPy's. If it raises, the program goes on with zeros, and its
            caller raises.
        results: shapes and types of what it returns.
        *arrays: of the program.
        stateful: whether it must be called for each run, and may return something else to each replica.
    """
    expect_errors()
    zeros = [np.zeros(one.shape, one.dtype) for one in results]

    def call(index: Any, *values: Any) -> Sequence[Any]:
        try:
            return list(function(*map(np.asarray, values)))
        except Exception as error:
            record_error(error)
            return zeros

    index, first = _speakers()
    in_replica = first is None

    # With the index among the arguments, nobody takes the results of two replicas for the same.
    number = index if stateful and in_replica else jnp.int32(0)

    def ask(number: Any, *values: Any) -> list[Any]:
        return list(
            jax.pure_callback(call, list(results), number, *values, vmap_method="sequential")
        )

    def ask_once() -> list[Any]:
        return on_first_device(ask, number, *arrays)

    if in_replica or not stateful:
        found = ask_once()
    else:
        asked = jax.lax.cond(index == 0, ask_once, lambda: list(map(jnp.asarray, zeros)))
        found = [_sum(one) for one in asked]
    if stateful:
        # XLA leaves out a call whose result nobody uses; this one uses it.
        call_back(lambda *_: None, *found)
    return found


def _sum(value: Any) -> Any:
    if value.dtype == bool:
        return over_axis("sum", value.astype(jnp.int32)) > 0
    return over_axis("sum", value)


def _speakers() -> tuple[Any, frozenset[int] | None]:
    """Finds out who calls.

    Returns:
        The index of the replica, and of those that call: one of each process; None means all.
    """
    frame = current_frame()
    if frame is None or frame.in_replica or frame.layout.replicas == 1:
        return replica_id(), None
    return axis_index(), frozenset(frame.layout.first_replicas)
