"""`tf.py_function` and `tf.numpy_function`: Python functions that a program calls when it runs."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf.data.host_arrays import shown, text_array
from frontends.tf.dtypes import jax_dtype
from frontends.tf.gradient_tape import GradientTape, UnconnectedGradients
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.host_calls import ask_host, tell_host
from frontends.tf.ops.map_stream import in_map
from frontends.tf.ops.shapeless import HostCall, ShapelessResult
from spmd import _jax_internals


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: Nested = None,
    name: str | None = None,
) -> Any:
    """Calls a Python function, eagerly at once, and in a program each time that it runs, on the host.

    A program needs the shapes of the results: say them in `Tout`, or right after the call with `tf.ensure_shape` or
    `set_shape`. Without them a `tf.function` runs as Python, and a replica's function raises. Gradients flow through what the function computes with arrays; in a program it is called once
    more for them. What the function raises, the caller of the `tf.function` or `strategy.run` raises when
    the program has ended.

    Args:
        func: takes arrays whose values are known; texts stay on the host, as in a map of a dataset.
        inp: the arrays. Without `func` and these, it is a decorator: `@tf.py_function(Tout=tf.float32)`.
        Tout: dtype or `tf.TensorSpec` of the result, or a list of them; None or an empty list if there is none.

    Returns:
        The result, or a list of results.

    Raises:
        TypeError: `func` cannot be called.
        ValueError: (when a result is used in a replica) its shape is not known.

    Examples:
        >>> from frontends import tf
        >>> @tf.function
        ... def double(x):
        ...     y = tf.py_function(lambda x: x.numpy() * 2, [x], tf.float32)
        ...     return tf.ensure_shape(y, x.shape)
        >>> double(tf.constant([1.0, 2.0])).tolist()
        [2.0, 4.0]

    Source: `tf.py_function`.
    """
    return _call("tf.py_function", func, inp, Tout, as_numpy=False, stateful=True)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: Nested = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function with arrays of NumPy; see `py_function`. It has no gradient.

    Args:
        func: takes and returns arrays of NumPy.
        inp: arrays.
        Tout: as for `py_function`.
        stateful: whether it may return something else for the same arrays; if not, replicas with equal arrays are
            taken to get equal results.

    Source: `tf.numpy_function`.
    """
    return _call("tf.numpy_function", func, inp, Tout, as_numpy=True, stateful=stateful)


def _call(
    caller: str,
    func: Callable[..., Any] | None,
    inp: Sequence[TensorLike] | None,
    declared: Nested,
    *,
    as_numpy: bool,
    stateful: bool,
) -> Any:
    if func is None and inp is None:
        return _decorator(caller, declared, as_numpy=as_numpy, stateful=stateful)
    if not callable(func):
        raise TypeError(f"{caller}: func must be callable, got {func!r}.")
    several = isinstance(declared, list | tuple)
    specs: list[Any] = list(declared) if several else [] if declared is None else [declared]
    dtypes = [jax_dtype(_dtype_of(spec)) for spec in specs]
    inputs = [convert_to_tensor(one) for one in inp or ()]
    python = _Python(caller, func, inputs, dtypes, as_numpy=as_numpy)
    if not _jax_internals.is_tracing():
        results: list[Any] = python.results(*inputs)
    elif in_map():
        # The map function is called again, with values.
        raise NotImplementedError(f"{caller} needs the values of a dataset's elements.")
    elif not specs:
        tell_host(python.results, *python.numbers)
        results = []
    else:
        call = HostCall(caller, python.ask(stateful), list(map(_shape_of, specs)), dtypes)
        waits = None in call.shapes
        results = [ShapelessResult(call, i) for i in range(len(specs))] if waits else call.results()
    if several:
        return results
    return None if declared is None else results[0]


def _decorator(caller: str, declared: Nested, *, as_numpy: bool, stateful: bool) -> Any:
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: TensorLike) -> Any:
            return _call(caller, func, args, declared, as_numpy=as_numpy, stateful=stateful)

        return call

    return decorate


def _dtype_of(spec: Any) -> DTypeLike:
    return spec.dtype if _has_shape(spec) else spec


def _has_shape(spec: Any) -> bool:
    """Tells a `tf.TensorSpec` from a dtype: those of NumPy have shapes of their own."""
    return hasattr(spec, "shape") and not isinstance(spec, np.dtype)


def _shape_of(spec: Any) -> tuple[int, ...] | None:
    shape = spec.shape if _has_shape(spec) else None
    return None if shape is None or None in shape else tuple(shape)


class _Python:
    """A Python function, as the host calls it.

    Attributes:
        numbers: the inputs that a program can hand over; texts are handed over as they are.
    """

    def __init__(
        self,
        caller: str,
        func: Callable[..., Any],
        inputs: Sequence[Any],
        dtypes: Sequence[np.dtype],
        *,
        as_numpy: bool,
    ) -> None:
        self._caller, self._func, self._dtypes, self._as_numpy = caller, func, dtypes, as_numpy
        self._texts = [None if isinstance(one, jax.Array) else one for one in inputs]
        self.numbers = [one for one in inputs if isinstance(one, jax.Array)]

    def results(self, *values: Any) -> list[Any]:
        """Calls the function, and makes arrays of what it returns.

        Raises:
            ValueError: it returns more or less than was said, or other dtypes.
        """
        rest = iter(
            [one for one in values if getattr(one, "dtype", np.dtype(str)).kind not in "OSU"]
        )
        arrays = [next(rest) if text is None else text for text in self._texts]
        if self._as_numpy:
            found = self._func(*map(_of_numpy, arrays))
        else:
            found = self._func(*map(convert_to_tensor, arrays))
        if not self._dtypes:
            return []
        found = list(found) if isinstance(found, list | tuple) else [found]
        if len(found) != len(self._dtypes):
            raise ValueError(
                f"{self._caller}: the function returned {len(found)} values, but Tout names {len(self._dtypes)}."
            )
        return [self._array(one, dtype) for one, dtype in zip(found, self._dtypes, strict=True)]

    def ask(self, stateful: bool) -> Callable[[Sequence[jax.ShapeDtypeStruct]], Sequence[Any]]:
        """Makes the function that calls the host from a program, for results of given shapes."""

        def call(specs: Sequence[jax.ShapeDtypeStruct]) -> Sequence[Any]:
            def forward(*values: Any) -> list[Any]:
                return [
                    self._checked(one, spec)
                    for one, spec in zip(self.results(*values), specs, strict=True)
                ]

            inexact = [jnp.issubdtype(one.dtype, jnp.inexact) for one in (*self.numbers, *specs)]
            if self._as_numpy or not any(inexact[: len(self.numbers)]) or not any(inexact):
                inputs = map(jax.lax.stop_gradient, self.numbers)
                return ask_host(forward, specs, *inputs, stateful=stateful)
            return self._with_gradient(forward, specs, stateful)

        return call

    def _with_gradient(
        self,
        forward: Callable[..., list[Any]],
        specs: Sequence[jax.ShapeDtypeStruct],
        stateful: bool,
    ) -> Sequence[Any]:
        inputs = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in self.numbers]
        real = [jnp.issubdtype(one.dtype, jnp.inexact) for one in inputs]
        wanted = [one for one, is_real in zip(inputs, real, strict=True) if is_real]

        def backward_on_host(*values: Any) -> list[Any]:
            arrays = list(map(jnp.asarray, values[: len(inputs)]))
            weights = list(map(jnp.asarray, values[len(inputs) :]))
            sources = [one for one, is_real in zip(arrays, real, strict=True) if is_real]
            with GradientTape() as tape:
                tape.watch(sources)
                targets = self.results(*arrays)
            zero = UnconnectedGradients.ZERO
            found = tape.gradient(targets, sources, weights, zero)
            return [self._checked(one, spec) for one, spec in zip(found, wanted, strict=True)]

        @jax.custom_vjp
        def run(*arrays: Any) -> list[Any]:
            return ask_host(forward, specs, *arrays, stateful=stateful)

        def keep(*arrays: Any) -> tuple[list[Any], Any]:
            return run(*arrays), arrays

        def backward(arrays: Any, cotangents: list[Any]) -> Any:
            weights = [
                jnp.zeros(spec.shape, spec.dtype) if one.dtype == jax.dtypes.float0 else one
                for one, spec in zip(cotangents, specs, strict=True)
            ]
            found = iter(ask_host(backward_on_host, wanted, *arrays, *weights, stateful=stateful))
            return tuple(next(found) if is_real else None for is_real in real)

        run.defvjp(keep, backward)
        return run(*self.numbers)

    def _array(self, value: Any, dtype: np.dtype) -> Any:
        if dtype.kind in "OSU":
            return shown(text_array(value, f"{self._caller}: the result"))
        array = value if isinstance(value, jax.Array) else jnp.asarray(convert_to_tensor(value))
        if array.dtype == dtype:
            return array
        if (
            isinstance(value, jax.Array | np.ndarray | np.generic)
            and array.dtype.kind != dtype.kind
        ):
            raise ValueError(
                f"{self._caller}: the function returned {array.dtype}, but Tout says {dtype}. Say "
                f"Tout=tf.{array.dtype}, or cast the result."
            )
        return array.astype(dtype)

    def _checked(self, value: Any, spec: jax.ShapeDtypeStruct) -> np.ndarray:
        array = np.asarray(value, spec.dtype)
        if array.shape != spec.shape:
            raise ValueError(
                f"{self._caller}: the function returned shape {array.shape}, but {spec.shape} was said."
            )
        return array


def _of_numpy(array: Any) -> Any:
    """Returns an array of NumPy's own, or a scalar; texts are bytes."""
    values = np.asarray(array)
    return (text_array(values, "inp") if values.dtype.kind in "OSU" else values)[()]
