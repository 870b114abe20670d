"""Functions of `tf.*` about control flow, scopes and printing.

*Eager* code is what no program traces. There, `tf.cond` and `tf.while_loop` are Python's, so that
gradients flow through them; in a program they are XLA's.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Generator
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.ops.convert import convert_to_tensor
from spmd import _jax_internals


def executing_eagerly() -> bool:
    """Tells whether this code runs now; False while a program is traced."""
    return not _jax_internals.is_tracing()


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls one of two functions; in a program both are traced and must return the same dtypes."""
    if true_fn is None or false_fn is None:
        raise TypeError("tf.cond: give both true_fn and false_fn.")
    chosen = convert_to_tensor(pred)
    if isinstance(chosen, Tracer):
        return jax.lax.cond(chosen.reshape(()), _tensors(true_fn), _tensors(false_fn))
    return true_fn() if bool(chosen) else false_fn()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Nested,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: int | None = None,
    name: str | None = None,
) -> Any:
    """Repeats `body` while `cond` holds; in a program it has no gradient: use `jax.lax.scan`."""
    del shape_invariants, parallel_iterations, back_prop, swap_memory
    several = isinstance(loop_vars, list | tuple)

    def step(count: TensorLike, variables: Nested) -> tuple[Any, Any]:
        result = body(*variables)
        result = result if isinstance(result, list | tuple) and several else (result,)
        return count + 1, nest.map_structure(convert_to_tensor, tuple(result))

    def goes_on(count: TensorLike, variables: Nested) -> Any:
        # Without short cuts: these are arrays of the program.
        within = True if maximum_iterations is None else count < maximum_iterations
        return convert_to_tensor(cond(*variables)).reshape(()) & within

    state = (
        0,
        nest.map_structure(convert_to_tensor, tuple(loop_vars) if several else (loop_vars,)),
    )
    if executing_eagerly():
        while goes_on(*state):
            state = step(*state)
    else:
        state = jax.lax.while_loop(lambda state: goes_on(*state), lambda state: step(*state), state)
    return nest.pack_sequence_as(loop_vars, nest.flatten(state[1]))


def map_fn(fn: Callable[[Any], Any], elems: Nested, *unused: object, **options: object) -> Any:
    """Calls a function with each row and stacks the results; `jax.vmap` is faster where it works.

    Args:
        fn: takes one row, of each array of the structure `elems`.
        elems: arrays with equally many rows.
        *unused: TensorFlow's options, which change nothing here.
        **options: likewise.
    """
    del unused, options
    return jax.lax.map(_tensors(fn), nest.map_structure(convert_to_tensor, elems))


def _tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function return arrays, and None where it returned None."""

    @functools.wraps(function)
    def call(*args: Nested) -> Any:
        return jax.tree.map(convert_to_tensor, function(*args))

    return call


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def group(*inputs: Nested, **kwargs: object) -> None:
    """Does nothing: what a program computes is run because it is used, or has an effect."""
    del inputs, kwargs


@contextlib.contextmanager
def control_dependencies(control_inputs: object) -> Generator[None]:
    """Does nothing: effects come in the order of the Python code."""
    del control_inputs
    yield


@contextlib.contextmanager
def init_scope() -> Generator[None]:
    """Does nothing: a program that is traced stays so inside of the block."""
    yield


@contextlib.contextmanager
def device(device_name: object) -> Generator[None]:
    """Does nothing: the strategy, or JAX's default device, says where code runs; never this."""
    del device_name
    yield


@contextlib.contextmanager
def name_scope(name: str) -> Generator[str]:
    """Puts a name before those of the operations, for profiles and HLO."""
    with jax.named_scope(name):
        yield f"{name}/"


def print_(
    *inputs: Nested,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Prints to standard error, as TensorFlow does; in a program, each time it runs.

    In a program every replica prints, in no order. It does not block.

    Args:
        *inputs: values, or structures of them.
        output_stream: `sys.stderr` or `sys.stdout`, or another stream.
        summarize: how many items to show at the ends of each dimension; -1 shows all.
        sep: between the values.
        end: after the last one.

    Raises:
        ValueError: `output_stream` is a text: files are not written.
    """
    if isinstance(output_stream, str):
        raise ValueError(
            f"tf.print: output_stream must be a stream, got {output_stream!r}. "
            "Use output_stream=sys.stdout, or logging to a file."
        )
    leaves = [leaf for value in inputs for leaf in nest.flatten(value)]
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
        show(numbers)
    else:
        jax.debug.callback(show, numbers)


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
