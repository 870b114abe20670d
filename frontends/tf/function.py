"""`tf.function`: a Python function becomes one compiled program, the strategies it runs included."""

import functools
from collections.abc import Callable
from typing import Any, overload

import jax
from jax.sharding import Mesh

import spmd
from frontends.tf.distribute.context import get_strategy
from frontends.tf.distribute.strategy import WrongMeshError
from spmd.context import current_frame
from spmd.step import NO_SHORTCUT
from spmd.values import PerReplica


class Function:
    """A function that is traced once for each kind of arguments, and runs as one program.

    Source: `tf.types.experimental.PolymorphicFunction`.
    """

    def __init__(self, python_function: Callable[..., Any]) -> None:
        """Wraps a function; nothing is traced yet. Use `tf.function`.

        Args:
            python_function: code between the replicas; what `strategy.run` calls is a replica's.
        """
        self.python_function = python_function
        self.__wrapped__ = python_function
        functools.update_wrapper(self, python_function, updated=())
        self._steps: dict[Mesh, spmd.Step[..., Any]] = {}
        self._last: spmd.Step[..., Any] | None = None
        self._bound: dict[int, tuple[Any, Function]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function.

        Args:
            *args: arrays, per-replica values and numbers are traced; other values are fixed for a
                program.
            **kwargs: likewise.

        Returns:
            The function's result.
        """
        if current_frame() is not None:
            # A function inside a function is a part of the outer one's program.
            return self.python_function(*args, **kwargs)
        if self._last is not None and not kwargs:
            result = self._last.call_again(args)
            if result is not NO_SHORTCUT:
                return result
        self._last = None
        mesh = _mesh_of((args, kwargs)) or get_strategy().mesh
        try:
            step = self._step(mesh)
            result = step(*args, **kwargs)
        except WrongMeshError as other:
            step = self._step(other.mesh)
            result = step(*args, **kwargs)
        self._last = step
        return result

    @property
    def experimental_trace_count(self) -> int:
        """How often the Python function was traced."""
        return sum(step.trace_count for step in self._steps.values())

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> spmd.Program:
        """Traces the function ahead of time.

        Args:
            *args: as for a call.
            **kwargs: as for a call.

        Returns:
            The engine's program: look at `hlo`, `memory`, `cost`, `collectives`.

        Source: `tf.types.experimental.PolymorphicFunction.get_concrete_function`.
        """
        mesh = _mesh_of((args, kwargs)) or get_strategy().mesh
        try:
            return self._step(mesh).lower(*args, **kwargs)
        except WrongMeshError as other:
            return self._step(other.mesh).lower(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> "Function":
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is None or known[0] is not instance:
            bound = Function(self.python_function.__get__(instance, owner))
            self._bound[id(instance)] = known = (instance, bound)
        return known[1]

    def __repr__(self) -> str:
        return f"<tf.function {self.python_function!r}>"

    def _step(self, mesh: Mesh) -> "spmd.Step[..., Any]":
        if mesh not in self._steps:
            self._steps[mesh] = spmd.Step(self.python_function, mesh, per_replica=False)
        return self._steps[mesh]


@overload
def function(func: Callable[..., Any]) -> Function: ...


@overload
def function(
    func: None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Compiles a function, with every `strategy.run` and `strategy.reduce` in it, into one program.

    TensorFlow's options are accepted. Programs are always compiled by XLA and always made for the
    shapes that come; Python control flow on values is not rewritten: use `jax.lax.cond` and
    `jax.lax.while_loop`.

    Args:
        func: the function; None makes a decorator.
        input_signature: accepted.
        autograph: accepted.
        jit_compile: accepted.
        reduce_retracing: accepted.
        experimental_implements: accepted.
        experimental_autograph_options: accepted.
        experimental_attributes: accepted.
        experimental_relax_shapes: accepted.
        experimental_compile: accepted.
        experimental_follow_type_hints: accepted.

    Returns:
        The compiled function, or a decorator.

    Raises:
        TypeError: `func` cannot be called.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.MirroredStrategy(["cpu:0"])
        >>> @tf.function
        ... def train():
        ...     return strategy.reduce("SUM", strategy.run(lambda: 1.5), axis=None)
        >>> float(train())
        1.5

    Source: `tf.function`.
    """
    del input_signature, autograph, jit_compile, reduce_retracing, experimental_implements
    del experimental_autograph_options, experimental_attributes, experimental_relax_shapes
    del experimental_compile, experimental_follow_type_hints
    if func is None:
        return Function
    if not callable(func):
        raise TypeError(
            f"tf.function needs a function, but got {func!r} of type {type(func).__name__}."
        )
    return Function(func)


def _mesh_of(tree: Any) -> Mesh | None:
    """The mesh of the first per-replica value among arguments."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, PerReplica):
            return leaf.mesh
    return None
