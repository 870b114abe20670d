"""`tf.gradients` and `tf.hessians`: gradients of what a `tf.function` has computed so far.

A gradient after the fact needs a recording that began before (`tf.GradientTape`). A function that asks for one is
traced again, with a tape around it; with two where it takes gradients of gradients.
"""

import contextvars
import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.data.tracing import in_traced_function
from frontends.tf.gradient_sources import value_of
from frontends.tf.gradient_tape import GradientTape, UnconnectedGradients
from frontends.tf.graph import current_graph
from spmd.assigned import assigned
from spmd.errors import RecordedGradientError

# Gradients of gradients of gradients and so on: more than anyone takes.
_LIMIT = 6


class TapeNeeded(BaseException):
    """A function asks for gradients, and there is no tape, or none further out: it is traced again.

    Not an Exception: code of the function must not catch it.
    """


# The tapes around the function that is being traced, the outermost first.
_TAPES: contextvars.ContextVar[tuple[GradientTape, ...]] = contextvars.ContextVar(
    "tf_tapes", default=()
)


class Taped:
    """A function, and with as many tapes around it as it needs.

    Attributes:
        function: what to trace.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Wraps a function; at first without a tape."""
        self.function = function
        self._count = 0

    def add_tape(self) -> None:
        """Puts one more tape around the function.

        Raises:
            RecursionError: there are many already.
        """
        self._count += 1
        if self._count > _LIMIT:
            raise RecursionError(
                f"tf.gradients: gradients of gradients, more than {_LIMIT} times. Take them with nested "
                "tf.GradientTape blocks."
            )
        self.function = _WithTape(self.function)


class _WithTape:
    """A function with a tape around it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tape = GradientTape(persistent=True)
        with tape, assigned(_TAPES, (*_TAPES.get(), tape)):
            return self._function(*args, **kwargs)


def gradients(
    ys: Nested,
    xs: Nested,
    grad_ys: Nested = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Nested = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """Computes the gradients of the sum of `ys` in a `tf.function` or a model function; elsewhere use `tf.GradientTape`.

    The function is traced once more, with a tape around it, unless it has one.

    Args:
        ys: arrays that the function computed.
        xs: arrays or variables.
        grad_ys: weights of the elements of `ys`.
        unconnected_gradients: what stands for the gradient of an array that no `ys` depends on.

    Returns:
        A gradient for each array of `xs`.

    Raises:
        NotImplementedError: there are `stop_gradients`.
        RuntimeError: this is neither a `tf.function` nor a model function.

    Examples:
        >>> from frontends import tf
        >>> @tf.function
        ... def slope(x):
        ...     return tf.gradients(x * x * x, x)[0]
        >>> float(slope(tf.constant(2.0)))
        12.0

    Source: `tf.gradients`.
    """
    targets, sources = nest.flatten(ys), nest.flatten(xs)
    weights = None if grad_ys is None else nest.flatten(grad_ys)

    def ask(tape: GradientTape) -> list[Any]:
        tape.watch(sources)
        return tape.gradient(targets, sources, weights, unconnected_gradients)

    if stop_gradients is not None:
        raise NotImplementedError(
            "tf.gradients(stop_gradients=) is not supported. Write tf.stop_gradient(x) where the function uses x."
        )
    return _first(ask, sources, "gradients")


def hessians(
    ys: Nested,
    xs: Nested,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    name: str = "hessians",
) -> list[Any]:
    """Computes second derivatives of the sum of `ys` in a `tf.function`; see `gradients`.

    Returns:
        For each array of `xs` an array of shape `x.shape + x.shape`.

    Raises:
        RuntimeError: this is no `tf.function`.

    Source: `tf.hessians`.
    """
    sources = nest.flatten(xs)
    firsts = [one if one is None else jnp.asarray(one) for one in gradients(ys, sources)]

    def second(gradient: Any, source: Any) -> Any:
        if gradient is None:
            return None

        def ask(tape: GradientTape) -> Any:
            tape.watch(source)
            return tape.jacobian(gradient, source)

        found = _first(ask, [source], "hessians")
        shape = value_of(source).shape
        return jnp.zeros((*shape, *shape), gradient.dtype) if found is None else found

    return [second(*pair) for pair in zip(firsts, sources, strict=True)]


def _first(ask: Callable[[GradientTape], Any], sources: list[Any], name: str) -> Any:
    """Asks the innermost tape that can answer; those within it know nothing of how its answer came about."""
    inner: list[GradientTape] = []
    graph = current_graph()
    around = [] if graph is None or graph.tape is None else [graph.tape]
    for tape in reversed([*around, *_TAPES.get()]):
        try:
            found = ask(tape)
        except RecordedGradientError:
            inner.append(tape)
        else:
            for one in inner:
                one.keep_out(sources, found)
            return found
    if in_traced_function() or (graph is not None and not around):
        raise TapeNeeded
    raise RuntimeError(
        f"tf.{name} is not supported when eager execution is enabled. Call it in a tf.function, or use "
        "tf.GradientTape instead."
    )
