"""`tf.custom_gradient` and `tf.recompute_grad`: functions whose gradient is made in another way."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from frontends.tf import nest
from frontends.tf._typing import Nested, VariableLike
from frontends.tf.gradient_sources import conjugates, is_variable
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.explicit import ExplicitCall, trainable
from spmd import _jax_internals


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Makes a function that says its own gradient.

    It works with tapes, with JAX's transformations and in programs. The function that computes the gradient sees
    values where the gradient is taken eagerly; in a program it is traced, together with the function itself.

    Args:
        f: returns a result and a function, which takes the gradient of each array of the result and returns that
            of each argument. If `f` reads trainable variables that are no arguments, that function takes
            `variables=`, a list, too, and returns a pair: gradients of the arguments, and a list of the variables'.

    Returns:
        The function, which returns the result alone; without `f`, a decorator.

    Raises:
        TypeError: (when called) `f` does not return a pair with a function; or it reads variables, and that
            function does not take them.
        ValueError: (when the gradient is taken) there are more or fewer gradients than arguments or variables, or
            one has another shape.

    Examples:
        >>> from frontends import tf
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)
        >>> x = tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = clipped(x) * 5.0
        >>> float(tape.gradient(y, x))
        1.0

    Source: `tf.custom_gradient`.
    """
    if f is None:
        return custom_gradient
    function = f

    @functools.wraps(function)
    def call(*args: Nested, **kwargs: Nested) -> Any:
        if not _jax_internals.is_interposed() and not _jax_internals.is_tracing():
            return _pair(function, function(*args, **kwargs))[0]
        return _CustomGradient(function, args, kwargs).call()

    return call


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function whose intermediate values are computed again for its gradient, which saves memory.

    Eagerly it is the function itself: there is no program in which memory could be saved.

    Args:
        f: any function of arrays; it may read and assign variables.

    Source: `tf.recompute_grad`, `jax.checkpoint`.
    """

    @functools.wraps(f)
    def call(*args: Nested, **kwargs: Nested) -> Any:
        if not _jax_internals.is_tracing():
            return f(*args, **kwargs)
        explicit = ExplicitCall(f, args, kwargs)
        result: Any = None

        def run(arrays: Sequence[Any], held: Sequence[Any]) -> Any:
            def leaves(found: Any) -> list[Any]:
                nonlocal result
                result = found
                return [convert_to_tensor(leaf) for leaf in nest.flatten(found)]

            return explicit(arrays, held, leaves)

        found, new = jax.checkpoint(run)(explicit.arrays, explicit.held)
        explicit.assign(new)
        return nest.pack_sequence_as(result, found)

    return call


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function whose gradient is that of the identity: it goes through as if nothing was computed.

    Args:
        f: takes one array, returns one of the same shape.

    Examples:
        >>> from frontends import tf
        >>> x = tf.Variable(1.6)
        >>> with tf.GradientTape() as tape:
        ...     y = tf.grad_pass_through(tf.round)(x)
        >>> float(y), float(tape.gradient(y, x))
        (2.0, 1.0)

    Source: `tf.grad_pass_through`.
    """

    def through(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs), lambda *upstream: upstream[0] if len(upstream) == 1 else upstream

    return custom_gradient(through)


class _CustomGradient:
    """One call of a function with a custom gradient."""

    def __init__(self, function: Callable[..., Any], args: Nested, kwargs: Nested) -> None:
        self._function = function
        self._explicit = ExplicitCall(function, args, kwargs)
        self._result: Any = None

    def call(self) -> Any:
        explicit = self._explicit
        run = jax.custom_vjp(lambda arrays, held: self._forward(arrays, held)[0])
        run.defvjp(self._forward, _backward)
        found, new = run(explicit.arrays, explicit.held)
        explicit.assign(new)
        return nest.pack_sequence_as(self._result, found)

    def _forward(self, arrays: Sequence[Any], held: Sequence[Any]) -> tuple[Any, "_Gradient"]:
        gradient: Any = None
        explicit = self._explicit

        def leaves(found: Any) -> list[Any]:
            nonlocal gradient
            self._result, gradient = _pair(self._function, found)
            # Copies: what is handed through unchanged must be known apart from the argument.
            return [jnp.copy(convert_to_tensor(leaf)) for leaf in nest.flatten(self._result)]

        found, new = explicit(arrays, held, leaves)
        variables = self._used_variables(gradient)
        pull = _Pull(gradient, explicit, found, len(new), variables)
        # What the script's function closes over lives as long as the trace that is current.
        closed = any(isinstance(leaf, Tracer) for leaf in (*arrays, *held, *found))
        if _jax_internals.is_tracing() or closed:
            return (found, new), _traced(pull)
        return (found, new), jax.tree_util.Partial(pull)

    def _used_variables(self, gradient: Callable[..., Any]) -> list[int]:
        """Finds the variables that the function reads, by their indices, and checks that they are asked for.

        Raises:
            TypeError: they are not.
        """
        explicit = self._explicit
        arguments = {id(one) for one in explicit.positions if is_variable(one)}
        found = [
            index
            for index, variable in enumerate(explicit.variables)
            if index in explicit.used and trainable(variable) and id(variable) not in arguments
        ]
        if found and not _takes_variables(gradient):
            names = ", ".join(str(getattr(explicit.variables[i], "name", i)) for i in found)
            raise TypeError(
                "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                f"variables: {names}. Write def grad(dy, variables=None): and return the gradients of the "
                "arguments, and a list of those of the variables."
            )
        return found


class _Pull:
    """The gradient that a script's function computes, on flat lists."""

    def __init__(
        self,
        gradient: Callable[..., Any],
        explicit: ExplicitCall,
        outputs: Sequence[Any],
        extra: int,
        variables: Sequence[int],
    ) -> None:
        self._gradient = gradient
        self._of_variables = list(variables)
        self._held: list[VariableLike] = [explicit.variables[index] for index in variables]
        self._positions = explicit.positions
        self._counts = len(explicit.arrays), len(explicit.held)
        self._arrays = [_Like(array) for array in explicit.arrays]
        self._values = [_Like(value) for value in explicit.held]
        self._numbers = {id(variable): index for index, variable in enumerate(explicit.variables)}
        self.outputs = [_Like(one) for one in outputs]
        self.extra = extra

    def __call__(self, cotangents: tuple[list[Any], list[Any]]) -> Any:
        incoming = [
            jnp.zeros(like.shape, like.dtype) if cotangent.dtype == jax.dtypes.float0 else cotangent
            for cotangent, like in zip(cotangents[0], self.outputs, strict=True)
        ]
        incoming = conjugates(incoming)
        arrays: list[Any] = [None] * self._counts[0]
        held: list[Any] = [None] * self._counts[1]
        if self._of_variables:
            found, of_variables = self._gradient(*incoming, variables=self._held)
            of_variables = nest.flatten(of_variables)
            if len(of_variables) != len(self._of_variables):
                raise ValueError(
                    f"Must return gradient for each variable from @custom_gradient grad_fn: there are "
                    f"{len(self._of_variables)}, but it returned {len(of_variables)}."
                )
            for index, value in zip(self._of_variables, of_variables, strict=True):
                held[index] = self._values[index].gradient(value)
        else:
            found = self._gradient(*incoming)
        found = nest.flatten(found)
        if len(found) != len(self._positions):
            raise ValueError(
                f"custom_gradient function expected to return {len(self._positions)} gradients, but returned "
                f"{len(found)} instead. Return one for each argument, None where there is none."
            )
        for where, value in zip(self._positions, found, strict=True):
            if isinstance(where, int):
                arrays[where] = self._arrays[where].gradient(value)
            elif where is not None:
                index = self._numbers[id(where)]
                held[index] = self._values[index].gradient(value)
        return arrays, held


class _Like:
    """Shape and dtype of an array, and what may be its gradient."""

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype = jnp.shape(array), jnp.result_type(array)

    def gradient(self, value: Any) -> Any:
        """Makes a gradient of what a script returned.

        Raises:
            ValueError: it has another shape.
        """
        if value is None or not jnp.issubdtype(self.dtype, jnp.inexact):
            return None
        array = conjugates([convert_to_tensor(value)])[0].astype(self.dtype)
        if array.ndim and array.shape != self.shape:
            raise ValueError(
                f"A gradient from @tf.custom_gradient has shape {array.shape}, but what it belongs to has shape "
                f"{self.shape}. Sum over what was broadcast, or reshape it: tf.reshape(gradient, tf.shape(x))."
            )
        return jnp.broadcast_to(array, self.shape)


_Gradient = jax.tree_util.Partial


def _backward(gradient: _Gradient, cotangents: Any) -> Any:
    return gradient(cotangents)


def _traced(pull: _Pull) -> _Gradient:
    """Traces a gradient now, while what it closes over exists."""
    structure: Any = None

    def flat(*cotangents: Any) -> list[Any]:
        nonlocal structure
        leaves, structure = jax.tree.flatten(pull((list(cotangents), [])))
        return leaves

    outputs = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in pull.outputs]
    inexact = [jnp.issubdtype(one.dtype, jnp.inexact) for one in pull.outputs]
    program = jax.make_jaxpr(flat)(*outputs)
    return jax.tree_util.Partial(
        functools.partial(_run_traced, program.jaxpr, structure, tuple(inexact), tuple(outputs)),
        list(program.consts),
    )


def _run_traced(
    jaxpr: Any,
    structure: Any,
    inexact: Sequence[bool],
    outputs: Sequence[Any],
    constants: Sequence[Any],
    cotangents: tuple[list[Any], list[Any]],
) -> Any:
    incoming = [
        cotangent if real else jnp.zeros(like.shape, like.dtype)
        for cotangent, real, like in zip(cotangents[0], inexact, outputs, strict=True)
    ]
    return structure.unflatten(jaxpr_as_fun(ClosedJaxpr(jaxpr, constants))(*incoming))


def _pair(function: Callable[..., Any], found: Any) -> tuple[Any, Callable[..., Any]]:
    if not isinstance(found, list | tuple) or len(found) != 2 or not callable(found[1]):
        name = getattr(function, "__name__", function)
        raise TypeError(
            f"@tf.custom_gradient: {name} must return a result and the function of its gradient, but returned "
            f"{found!r}. Write: return y, grad"
        )
    result, gradient = found
    return result, gradient


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    parameters = inspect.signature(gradient).parameters.values()
    return any(one.name == "variables" or one.kind is one.VAR_KEYWORD for one in parameters)
