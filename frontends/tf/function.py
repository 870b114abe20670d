"""`tf.function`: a Python function becomes one compiled program, the strategies it runs included."""

import functools
from collections.abc import Callable
from typing import Any, TypedDict, Unpack, overload

import jax
from jax.sharding import Mesh

import spmd
from frontends.tf._random_ops import STREAM
from frontends.tf.distribute.context import get_strategy
from frontends.tf.distribute.strategy import Strategy, WrongMeshError
from spmd._jax_internals import is_interposed
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
        if current_frame() is not None or is_interposed():
            # A function inside a function is a part of the outer one's program; under a tape its
            # operations are recorded one by one.
            return self.python_function(*args, **kwargs)
        strategy = get_strategy()
        if self._last is not None and self._last[0] is strategy and not kwargs:
            result = self._last[1].call_again(args)
            if result is not NO_SHORTCUT:
                return result
        return self._with_step(strategy, args, kwargs, lambda step: step(*args, **kwargs))

    def experimental_get_tracing_count(self) -> int:
        """Counts how often the Python function was traced into a program.

        Source: `tf.types.experimental.PolymorphicFunction.experimental_get_tracing_count`.
        """
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
        return self if instance is None else _methods_of(instance).get(self, owner)

    def __reduce__(self) -> Any:
        # A copy compiles anew: programs belong to the objects that they were traced for.
        return Function, (self.python_function,)

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
            step = spmd.Step(self.python_function, mesh, state=[STREAM], per_replica=False)
            self._steps[strategy, mesh] = step
        return self._steps[strategy, mesh]


class _Methods:
    """The compiled methods of one object, kept by the object in its `__dict__`.

    A table with weak keys would not do: a compiled method reaches its object, by the bound method and,
    where the object is a module, by the state of its programs, so that the table itself would keep
    every object alive. From the object it is a cycle, which the garbage collector frees. To others this
    is opaque and like any other: copies and pickles carry an empty one, and modules that differ by
    theirs alone are equal to Flax.
    """

    __slots__ = ("_bound", "owner")

    def __init__(self, owner: Any = None) -> None:
        self.owner = owner
        self._bound: dict[Function, Function] = {}

    def get(self, function: Function, kind: Any) -> Function:
        """Returns a function as the owner's method, the same one every time."""
        if function not in self._bound:
            bound = Function(function.python_function.__get__(self.owner, kind))
            self._bound.setdefault(function, bound)
        return self._bound[function]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Methods)

    def __hash__(self) -> int:
        return hash(_Methods)

    def __reduce__(self) -> Any:
        return _Methods, ()


_ATTRIBUTE = "_tf_functions"


def _methods_of(instance: Any) -> _Methods:
    try:
        attributes = vars(instance)
    except TypeError:
        raise TypeError(
            f"A tf.function is a method of {type(instance).__name__}, whose objects have no __dict__ to "
            "keep its programs in, because the class declares __slots__. Add '__dict__' to its __slots__."
        ) from None
    methods: _Methods | None = attributes.get(_ATTRIBUTE)
    # A copy of the object brings along what belongs to the original.
    if methods is None or methods.owner is not instance:
        methods = attributes[_ATTRIBUTE] = _Methods(instance)
    return methods


class FunctionOptions(TypedDict, total=False):
    """TensorFlow's options of `tf.function`; they are accepted, and none changes anything here.

    Programs are always compiled by XLA, and always made for the shapes that come.

    Source: `tf.function`.
    """

    autograph: bool
    jit_compile: bool | None
    reduce_retracing: bool
    experimental_implements: str | None
    experimental_autograph_options: Any
    experimental_attributes: Any
    experimental_relax_shapes: bool | None
    experimental_compile: bool | None
    experimental_follow_type_hints: bool | None


@overload
def function(
    func: Callable[..., Any], input_signature: Any = None, **options: Unpack[FunctionOptions]
) -> Function: ...


@overload
def function(
    func: None = None, input_signature: Any = None, **options: Unpack[FunctionOptions]
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    **options: Unpack[FunctionOptions],
) -> Any:
    """Compiles a function, with every `strategy.run` and `strategy.reduce` in it, into one program.

    Python control flow on values is not rewritten: use `jax.lax.cond` and `jax.lax.while_loop`.

    Args:
        func: the function; None makes a decorator.
        input_signature: accepted; a program is made for the shapes that come.
        **options: `FunctionOptions`, accepted.

    Returns:
        The compiled function, or a decorator.

    Raises:
        TypeError: `func` cannot be called, or TensorFlow has no such option.

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
    del input_signature
    unknown = sorted(set(options) - FunctionOptions.__optional_keys__)
    if unknown:
        raise TypeError(
            f"tf.function has no option {unknown[0]!r}. It takes func, input_signature, "
            f"{', '.join(sorted(FunctionOptions.__optional_keys__))}."
        )
    return Function if func is None else Function(func)


def _mesh_of(tree: Any) -> Mesh | None:
    """The mesh of the first per-replica value among arguments."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, PerReplica):
            return leaf.mesh
    return None
