"""Functions of `tf.*` about scopes and printing.

*Eager* code is what no program traces.
"""

import contextlib
import sys
from typing import Any

import jax
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.gradient_sources import is_variable
from frontends.tf.graph import Operation, current_graph
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.host_calls import tell_host
from frontends.tf.selected import Selected, SelectionError
from spmd import _jax_internals
from spmd.replica import PerReplica, TracedPerReplica, in_replica, is_first_of_process


def executing_eagerly() -> bool:
    """Tells whether this code runs now; False while a program is traced."""
    return not _jax_internals.is_tracing()


def no_op(name: str | None = None) -> Operation | None:
    """Does nothing; in a model function, an operation that runs what `tf.control_dependencies` names."""
    return group(name=name or "no_op")


def group(*inputs: Nested, name: str | None = None, **kwargs: object) -> Operation | None:
    """Groups operations of a model function; elsewhere does nothing, as code runs when it is written.

    Args:
        *inputs: operations, and tensors.
        name: of the operation.

    Returns:
        An operation that runs them; None outside of a model function.
    """
    graph = current_graph()
    return (
        None if graph is None else graph.operation(name or "group_deps", None, nest.flatten(inputs))
    )


def control_dependencies(control_inputs: Any) -> contextlib.AbstractContextManager[None]:
    """Has operations that a model function makes in the block run after others.

    Elsewhere does nothing: effects come in the order of the Python code.

    Args:
        control_inputs: operations and tensors.
    """
    graph = current_graph()
    return contextlib.nullcontext() if graph is None else graph.controlled(control_inputs)


def print_(
    *inputs: Nested,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Prints to standard error, as TensorFlow does; in a program, each time it runs.

    In a replica every replica prints, between the replicas each process. Programs print while they run: the
    call of a `tf.function` or of `strategy.run` waits for that.

    Args:
        *inputs: values, or structures of them.
        output_stream: `sys.stderr` or `sys.stdout`, or another stream.
        summarize: how many items to show at the ends of each dimension; -1 shows all.
        sep: between the values.
        end: after the last one.

    Raises:
        ValueError: `output_stream` is a text: files are not written.
        SelectionError: a value is what a mask took in a program; print what a reduction gives, or `tf.where(mask, x, 0)`.
    """
    if isinstance(output_stream, str):
        raise ValueError(
            f"tf.print: output_stream must be a stream, got {output_stream!r}. "
            "Use output_stream=sys.stdout, or logging to a file."
        )
    leaves = [_value(leaf) for value in inputs for leaf in nest.flatten(value)]
    if any(isinstance(leaf, Selected) for leaf in leaves):
        raise SelectionError("tf.print")
    numbers = {index: leaf for index, leaf in enumerate(leaves) if _is_array(leaf)}

    def show(arrays: dict[int, Any]) -> None:
        texts = [
            _Text(_format(arrays[index], summarize)) if index in arrays else leaf
            for index, leaf in enumerate(leaves)
        ]
        shown = nest.pack_sequence_as(list(inputs), texts)
        # The standard streams are looked up now, because a test or a notebook may replace them.
        print(*shown, sep=sep, end=end, file=output_stream or sys.stderr, flush=True)

    if executing_eagerly():
        # Op by op, each replica calls a merge function.
        if in_replica() or is_first_of_process():
            show(numbers)
    else:
        tell_host(lambda *arrays: show(dict(zip(numbers, arrays, strict=True))), *numbers.values())


def _value(leaf: object) -> Any:
    """Returns what a variable or the only replica holds, and other values as they are."""
    if isinstance(leaf, PerReplica | TracedPerReplica) and leaf.num_replicas == 1:
        return leaf.__jax_array__()
    return convert_to_tensor(leaf) if is_variable(leaf) else leaf


def _is_array(value: TensorLike) -> bool:
    return isinstance(value, jax.Array | np.ndarray | np.generic) and value.dtype.kind not in "OSU"


class _Text(str):
    """A text that stands in structures without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _format(array: TensorLike, summarize: int) -> str:
    edge = sys.maxsize if summarize < 0 else summarize
    return np.array2string(
        np.asarray(array),
        threshold=sys.maxsize if summarize < 0 else 0,
        edgeitems=edge,
        max_line_width=sys.maxsize,
        separator=" ",
        formatter={"float_kind": _format_float, "bool": lambda value: str(int(value))},
    )


def _format_float(value: TensorLike) -> str:
    return str(value).removesuffix(".0")
