"""Branches and loops as Python runs them, in steps that run op by op; see `control_flow` for what they take and return."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd._jax_internals import is_tracing
from spmd.replica import take_turns
from spmd.typing import PyTree


def runs_as_python() -> bool:
    """Tells whether values are known here: a step runs op by op, and JAX traces nothing inside it."""
    return take_turns() is not None and not is_tracing()


def switch(index: Any, branches: Sequence[Callable[[], PyTree]]) -> PyTree:
    """Calls one of several functions."""
    return branches[min(max(int(index), 0), len(branches) - 1)]()


def while_loop(
    test: Callable[[PyTree], Any], body: Callable[[PyTree], tuple[PyTree, PyTree]], carry: PyTree
) -> tuple[PyTree, PyTree]:
    """Repeats a function while a test holds; of the other arrays, None stands for those of no turn."""
    other = None
    while bool(test(carry)):
        carry, other = body(carry)
    return carry, other


def scan(
    body: Callable[[PyTree, PyTree], tuple[PyTree, PyTree, PyTree]],
    carry: PyTree,
    rows: PyTree,
    test: Callable[[PyTree], Any] | None,
    reverse: bool,
) -> tuple[PyTree, PyTree, PyTree]:
    """Calls a function with every row; of other arrays and of what is stacked, None stands for those of no turn."""
    leaves, structure = jax.tree.flatten(rows)
    count = len(leaves[0])
    other: PyTree = None
    outputs: list[PyTree] = []
    for index in reversed(range(count)) if reverse else range(count):
        if test is not None and not bool(test(carry)):
            break
        carry, other, output = body(carry, structure.unflatten(leaf[index] for leaf in leaves))
        outputs.append(output)
    if not outputs:
        return carry, None, None
    outputs += [jax.tree.map(jnp.zeros_like, outputs[0])] * (count - len(outputs))
    if reverse:
        outputs.reverse()
    return carry, other, jax.tree.map(lambda *each: jnp.stack(each), *outputs)
