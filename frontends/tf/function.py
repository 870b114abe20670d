"""`tf.function`: a Python function becomes one compiled program, the strategies it runs included.

A function that reads a dataset *runs as Python*: see `function`.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypedDict, Unpack, overload

import jax
import numpy as np
from jax.sharding import Mesh

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.bound_functions import methods_of
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.data.tracing import DatasetReadDuringTrace, traced_function
from frontends.tf.distribute.scope import StrategyLike, WrongMeshError, get_strategy
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.random import STREAM
from frontends.tf.reads_dataset import reads_dataset
from frontends.tf.variable import Variable
from spmd._jax_internals import is_interposed
from spmd.replica import PerReplica, current_frame, is_per_replica
from spmd.step import NO_SHORTCUT, CrossReplicaStep, Inlined, Lowered, StepCache

_Step: TypeAlias = CrossReplicaStep[..., Any]


class Function(Inlined):
    """A function that is traced once for each kind of arguments, and runs as one program.

    If it reads a dataset, it runs as Python, and the parts of it that a strategy runs are programs.

    Source: `tf.types.experimental.PolymorphicFunction`.
    """

    def __init__(self, python_function: Callable[..., Any]) -> None:
        """Wraps a function; nothing is traced yet. Use `tf.function`.

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
        self._steps = StepCache(_make_step, key=id)
        self._meshes: dict[StrategyLike, Mesh] = {}
        self._last: tuple[StrategyLike, _Step] | None = None
        self._runs_as_python = False

    def __call__(self, *args: Nested, **kwargs: Nested) -> Any:
        """Calls the function.

        Args:
            *args: arrays, per-replica values and numbers are traced; other values are fixed for a
                program.
            **kwargs: likewise.

        Returns:
            The function's result.

        Raises:
            OutOfRangeError: it asked an iterator for an element, and there is none.
        """
        if current_frame() is not None or is_interposed():
            # A function inside a function is a part of the outer one's program; under a tape its
            # operations are recorded one by one.
            return self.python_function(*args, **kwargs)
        if self._runs_as_python:
            return self._run_as_python(args, kwargs)
        strategy = get_strategy()
        if self._last is not None and self._last[0] is strategy and not kwargs:
            result = self._last[1].call_again(args)
            if result is not NO_SHORTCUT:
                return result
        with contextlib.suppress(DatasetReadDuringTrace):
            return self._compiled(strategy, args, kwargs, lambda step: step(*args, **kwargs))
        self._runs_as_python = True
        return self._run_as_python(args, kwargs)

    def experimental_get_tracing_count(self) -> int:
        """Counts how often the Python function was traced into a program; never, if it runs as Python.

        Source: `tf.types.experimental.PolymorphicFunction.experimental_get_tracing_count`.
        """
        return sum(step.trace_count for step in self._steps)

    def get_concrete_function(self, *args: Nested, **kwargs: Nested) -> Lowered:
        """Traces the function ahead of time.

        Returns:
            The engine's program: look at `hlo`, `memory`, `cost`, `collectives`.

        Raises:
            NotImplementedError: the function reads a dataset, so it runs as Python and is no program.

        Source: `tf.types.experimental.PolymorphicFunction.get_concrete_function`.
        """
        if not self._runs_as_python:
            with contextlib.suppress(DatasetReadDuringTrace):
                return self._compiled(
                    get_strategy(), args, kwargs, lambda step: step.lower(*args, **kwargs)
                )
        name = getattr(self.python_function, "__name__", self)
        raise NotImplementedError(
            f"{name} asks a dataset for elements, so it runs as Python, and is no program to look at. "
            "Move what it does with an element into a tf.function of its own, and ask that one: "
            "train_step.get_concrete_function(next(iter(dataset)))."
        )

    def __get__(self, instance: object, owner: type | None = None) -> "Function":
        return self if instance is None else methods_of(instance).get(self, owner)

    def __reduce__(self) -> Any:
        # Programs belong to the objects that they were traced for, so a copy compiles its own.
        return Function, (self.python_function,)

    def __repr__(self) -> str:
        return f"<tf.function {self.python_function!r}>"

    def _run_as_python(self, args: Nested, kwargs: Nested) -> Any:
        try:
            result = self.python_function(*args, **kwargs)
        except StopIteration:
            raise OutOfRangeError from None  # as from TensorFlow's functions
        return jax.tree.map(_as_result, result, is_leaf=_is_whole)

    def _compiled(
        self,
        strategy: StrategyLike,
        args: Nested,
        kwargs: Nested,
        use: Callable[[_Step], Any],
    ) -> Any:
        """Runs or lowers the function as a program.

        Raises:
            DatasetReadDuringTrace: it cannot be one.
        """
        mesh = _mesh_of((args, kwargs)) or self._meshes.get(strategy, strategy.mesh)
        try:
            try:
                return self._traced(strategy, mesh, use)
            except WrongMeshError as other:
                # The devices are known only once the function runs a strategy.
                result = self._traced(strategy, other.mesh, use)
                self._meshes[strategy] = other.mesh
                return result
        except _CONCRETE_VALUE_ERRORS:
            # Python's `for _ in tf.range(k): next(iterator)` fails before it gets to the iterator.
            if reads_dataset(self.python_function, args, kwargs):
                raise DatasetReadDuringTrace from None
            raise

    def _traced(self, strategy: StrategyLike, mesh: Mesh, use: Callable[[_Step], Any]) -> Any:
        step = self._steps.get(self.python_function, strategy, mesh)
        with traced_function():
            result = use(step)
        self._last = (strategy, step)
        return result


def _make_step(function: Callable[..., Any], strategy: StrategyLike, mesh: Mesh) -> _Step:
    return CrossReplicaStep(function, mesh, state=[STREAM])


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
    func: Callable[..., Any], input_signature: object = None, **options: Unpack[FunctionOptions]
) -> Function: ...


@overload
def function(
    func: None = None, input_signature: object = None, **options: Unpack[FunctionOptions]
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: object = None,
    **options: Unpack[FunctionOptions],
) -> Any:
    """Compiles a function, with every `strategy.run` and `strategy.reduce` in it, into one program.

    Python control flow on values is not rewritten: use `tf.cond` and `tf.while_loop`.

    A function that asks a dataset, or an iterator of one, for elements is not one program, which could
    not take them out of Python: its trace is abandoned before anything is read, and from then on it runs
    as Python. So at the first call what stands before the loop runs twice, first with traced values, as
    TensorFlow's traces do: a `print` there prints twice, `tf.print` once. Each `strategy.run` and each
    `tf.function` in it is a program, compiled once, as it would be outside. What stands between them runs
    operation by operation, so a loop over a dataset without a strategy is best left outside, and its body
    compiled. Python's `if` and `while` work on values there.

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
        >>> @tf.function
        ... def epoch(batches):
        ...     total = 0.0
        ...     for batch in batches:
        ...         total += strategy.reduce("SUM", batch, axis=0)
        ...     return total
        >>> dataset = tf.data.Dataset.range(5).batch(2)
        >>> int(epoch(strategy.experimental_distribute_dataset(dataset)))
        10

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


_CONCRETE_VALUE_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def _is_whole(value: TensorLike) -> bool:
    return isinstance(value, (PerReplica, Variable))


def _as_result(leaf: TensorLike) -> Any:
    """Converts what Python code returned to what a program would have returned."""
    if isinstance(leaf, Variable):
        return leaf.value()
    numbers = (bool, int, float, complex, np.ndarray, np.generic)
    return convert_to_tensor(leaf) if isinstance(leaf, numbers) else leaf


def _mesh_of(tree: Nested) -> Mesh | None:
    """The mesh of the first per-replica value among arguments."""
    leaves = jax.tree.leaves(tree, is_leaf=is_per_replica)
    return next((leaf.mesh for leaf in leaves if isinstance(leaf, PerReplica)), None)
