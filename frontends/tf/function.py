"""`tf.function`: a Python function becomes one compiled program, the strategies it runs included."""

import functools
from collections.abc import Callable
from typing import Any, overload

import jax
from jax.sharding import Mesh

import spmd
from frontends.tf.distribute.context import get_strategy
from frontends.tf.distribute.strategy import Strategy, WrongMeshError
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

        Raises:
            TypeError: it cannot be called.
        """
        if not callable(python_function):
            raise TypeError(
                f"tf.function needs a function, but got {python_function!r} of type "
                f"{type(python_function).__name__}."
            )
        self.python_function = python_function
        self.__wrapped__ = python_function
        functools.update_wrapper(self, python_function, updated=())
        # Python code may ask for the strategy, so each has programs of its own.
        self._steps: dict[tuple[Strategy, Mesh], spmd.Step[..., Any]] = {}
        self._meshes: dict[Strategy, Mesh] = {}
        self._last: tuple[Strategy, spmd.Step[..., Any]] | None = None

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
        strategy = get_strategy()
        if self._last is not None and self._last[0] is strategy and not kwargs:
            result = self._last[1].call_again(args)
            if result is not NO_SHORTCUT:
                return result
        return self._with_step(strategy, args, kwargs, lambda step: step(*args, **kwargs))

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
        strategy = get_strategy()
        return self._with_step(strategy, args, kwargs, lambda step: step.lower(*args, **kwargs))

    def __get__(self, instance: Any, owner: Any = None) -> "Function":
        if instance is None:
            return self
        # Kept by the object itself, so that its programs go when it goes.
        name = f"_tf_function_{self.python_function.__name__}"
        bound: Function | None = vars(instance).get(name)
        # A copy of the object brings along what was bound to the original.
        if bound is None or not bound.is_bound_to(self.python_function, instance):
            bound = Function(self.python_function.__get__(instance, owner))
            vars(instance)[name] = bound
        return bound

    def is_bound_to(self, function: Callable[..., Any], instance: Any) -> bool:
        """Tells whether this is a function as a method of an object.

        Args:
            function: the function.
            instance: the object.

        Returns:
            Whether it is.
        """
        method: Any = self.python_function
        return method.__self__ is instance and method.__func__ is function

    def __repr__(self) -> str:
        return f"<tf.function {self.python_function!r}>"

    def _with_step(
        self,
        strategy: Strategy,
        args: Any,
        kwargs: Any,
        use: Callable[["spmd.Step[..., Any]"], Any],
    ) -> Any:
        """Finds the step for the devices that the function's arguments, or the strategies in it, need."""
        mesh = _mesh_of((args, kwargs)) or self._meshes.get(strategy, strategy.mesh)
        try:
            step = self._step(strategy, mesh)
            result = use(step)
        except WrongMeshError as other:
            # Which devices they are shows only when the function runs a strategy.
            step = self._step(strategy, other.mesh)
            result = use(step)
            self._meshes[strategy] = other.mesh
        self._last = (strategy, step)
        return result

    def _step(self, strategy: Strategy, mesh: Mesh) -> "spmd.Step[..., Any]":
        if (strategy, mesh) not in self._steps:
            step = spmd.Step(self.python_function, mesh, per_replica=False)
            self._steps[strategy, mesh] = step
        return self._steps[strategy, mesh]


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
    return Function if func is None else Function(func)


def _mesh_of(tree: Any) -> Mesh | None:
    """The mesh of the first per-replica value among arguments."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, PerReplica):
            return leaf.mesh
    return None
