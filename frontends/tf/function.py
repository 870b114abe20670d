"""`tf.function`: a Python function becomes one compiled program, the strategies it runs included.

A function that reads a dataset *runs as Python*: see `function`.
"""

import contextlib
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack, overload

import jax
import numpy as np
from jax.sharding import Mesh

from frontends.tf._step_state import SEARCHED
from frontends.tf._typing import Nested, TensorLike
from frontends.tf.autograph.converted import converted
from frontends.tf.bound_functions import methods_of
from frontends.tf.call_forms import Call, CallForms, is_plain
from frontends.tf.concrete_function import (
    ConcreteFunction,
    abstract_arguments,
    has_all_sizes,
    is_of_host,
    specs_of,
)
from frontends.tf.config.execution import functions_run_eagerly
from frontends.tf.data.host_tensors import has_texts
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.data.spec import TensorSpec
from frontends.tf.data.tracing import (
    DatasetReadDuringTrace,
    ShapeUnknownDuringTrace,
    in_map_on_host,
    traced_function,
)
from frontends.tf.distribute.elsewhere import runner_now
from frontends.tf.distribute.scope import StrategyLike, WrongMeshError, get_strategy
from frontends.tf.fed_loops import NOT_FED, FedLoops, mesh_of_iterators
from frontends.tf.host_errors import raises_host_errors
from frontends.tf.input_signature import InputSignature
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.gradients import Taped, TapeNeeded
from frontends.tf.ops.traced_range import UnknownLengthError
from frontends.tf.ops.unwritten import FoundShapes, call_on_element
from frontends.tf.reads_dataset import reads_dataset
from frontends.tf.spec_fitting import leaves_of
from frontends.tf.traced_values import NEEDS_VALUE
from frontends.tf.variable import TracedInitialValueError, Variable
from spmd._jax_internals import is_interposed, is_tracing
from spmd.replica import PerReplica, current_frame, in_replica, is_per_replica
from spmd.servers import register_reducer
from spmd.source_lines import user_stacklevel
from spmd.step import (
    NO_SHORTCUT,
    CrossReplicaStep,
    Explanation,
    Inlined,
    Lowered,
    StepCache,
    StepOptions,
)

_Step: TypeAlias = CrossReplicaStep[..., Any]


class Function(Inlined):
    """A function that is traced once for each kind of arguments, and runs as one program.

    If it reads a dataset, it runs as Python, and the parts of it that a strategy runs are programs.

    Attributes:
        autograph: whether Python's control flow on tensors becomes the program's.
        python_function: what was compiled.

    Source: `tf.types.experimental.PolymorphicFunction`.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        autograph: bool = True,
        input_signature: Sequence[Nested] | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        """Wraps a function; nothing is traced yet. Use `tf.function`.

        Raises:
            TypeError: it cannot be called, or does not take what its signature says.
        """
        if not callable(python_function):
            raise TypeError(
                f"tf.function needs a function, but got {python_function!r} of type "
                f"{type(python_function).__name__}."
            )
        self.python_function = python_function
        self.autograph = autograph
        self._converted = converted(python_function, autograph)
        self._taped = Taped(self._converted)
        self._unwritten = FoundShapes()
        self.__wrapped__ = python_function
        functools.update_wrapper(self, python_function, updated=())
        self._options = autograph, input_signature, reduce_retracing
        self._forms = CallForms(python_function)
        self._declared = (
            None if input_signature is None else InputSignature(python_function, input_signature)
        )
        # Python code may ask for the strategy, so each has programs of its own.
        self._steps = StepCache(self._make_step, key=id)
        self._meshes: dict[StrategyLike, Mesh] = {}
        self._fed: dict[Any, FedLoops] = {}
        self._last: tuple[StrategyLike, _Step] | None = None
        self._runs_as_python = False
        self._made_as_python = False
        self._warned = False
        self._signatures: dict[str, Call] = {}
        self._inner_calls: set[Any] = set()

    @raises_host_errors
    def __call__(self, *args: Nested, **kwargs: Nested) -> Any:
        """Calls the function.

        In a dataset's function that runs on elements, and with texts among the arguments, it runs as Python. Python's
        own `str` and `bytes` are no texts, but fixed values.

        Args:
            *args: arrays and per-replica values are traced; other values are fixed for a program. A Python
                number is fixed at first. When another one comes in its place, it is traced, unless the function
                needs a number there, as for an axis.
            **kwargs: likewise; defaults and the order of arguments make no other program.

        Returns:
            The function's result.

        Raises:
            OutOfRangeError: it asked an iterator for an element, and there is none.
            TypeError: the arguments do not fit the `input_signature`.
            ValueError: it makes a `tf.Variable` in a later call than its first, or in each.
        """
        if self._declared is not None:
            args, kwargs = self._declared.bind(args, kwargs)
        if current_frame() is not None or is_interposed() or is_tracing() or in_map_on_host():
            # A function inside a function, or under tf.vectorized_map, is a part of the outer one's program; under a
            # tape its operations are recorded one by one. In a map that runs on elements, texts and sizes differ from
            # one to the next, and each would need a program.
            self._remember_inner_call(args, kwargs)
            with call_on_element(self._converted, args, kwargs, self._unwritten):
                return self._converted(*args, **kwargs)
        if (runner := runner_now()) is not None:
            return runner.run_function(self, args, kwargs)
        if self._runs_as_python or functions_run_eagerly():
            return self._run_as_python(args, kwargs, self._run_fed(args, kwargs))
        args, kwargs = self._forms.one(args, kwargs)
        strategy = get_strategy()
        if self._last is not None and self._last[0] is strategy and not kwargs:
            result = self._last[1].call_again(args)
            if result is not NO_SHORTCUT:
                return result
        if has_texts(args) or has_texts(kwargs):
            self._warn_as_python(_TEXTS)
            return self._run_as_python(args, kwargs, self._run_fed(args, kwargs))
        try:
            return self._compiled(strategy, args, kwargs, lambda step: step(*args, **kwargs))
        except DatasetReadDuringTrace as reason:
            if isinstance(reason, ShapeUnknownDuringTrace):
                self._warn_as_python(reason.advice)
        except TracedInitialValueError:
            if self._made_as_python or self.experimental_get_tracing_count():
                raise
            # A call as Python makes the variables from values; the next one is a program.
            self._made_as_python = True
            return self._run_as_python(args, kwargs)
        self._runs_as_python = True
        return self._run_as_python(args, kwargs, self._run_fed(args, kwargs))

    def experimental_get_tracing_count(self) -> int:
        """Counts how often the Python function was traced into a program; never, if it runs as Python.

        Source: `tf.types.experimental.PolymorphicFunction.experimental_get_tracing_count`.
        """
        return sum(each.trace_count for each in (*self._steps, *self._fed.values()))

    @property
    def input_signature(self) -> tuple[Nested, ...] | None:
        """The declared specs of the arguments; None if there are none.

        Source: `tf.types.experimental.PolymorphicFunction.input_signature`.
        """
        return None if self._declared is None else self._declared.placeholders()

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Lists, a line for each, the arguments that programs were made for.

        Source: `tf.types.experimental.PolymorphicFunction.pretty_printed_concrete_signatures`.
        """
        return "\n".join(self._signatures)

    @property
    def signatures(self) -> list[Call]:
        """The arguments that programs were made for: specs for tensors, and other values as they are."""
        return [*self._signatures.values()]

    def explain(self) -> Explanation | None:
        """Tells how the last call treated the rows of its batches: which program ran, and why.

        `path` is `"masked"`, `"exact"` or `"unequal"`. TensorFlow has no such method: a replica there has no padding.

        Returns:
            What can be asked and printed; None before the first call, and if the function runs as Python.
        """
        return None if self._last is None or self._runs_as_python else self._last[1].explain()

    def get_concrete_function(self, *args: Nested, **kwargs: Nested) -> ConcreteFunction:
        """Traces the function ahead of time.

        Args:
            *args: tensors, or `tf.TensorSpec`s in their place; a size of None may be any. With an
                `input_signature`, none are needed.
            **kwargs: likewise.

        Returns:
            The function for such arguments. If all sizes are known, it is the engine's program too: look at `hlo`,
            `memory`, `cost`, `collectives`. Else it is traced when it is called. With texts it runs as Python.

        Raises:
            NotImplementedError: the function reads a dataset, so it runs as Python and is no program.
            TypeError: the arguments do not fit the `input_signature`.

        Source: `tf.types.experimental.PolymorphicFunction.get_concrete_function`.
        """
        if self._declared is not None:
            args = args if args or kwargs else self._declared.placeholders()
            args, kwargs = self._declared.bind(args, kwargs)
        args, kwargs = self._forms.one(args, kwargs)

        def lower() -> Lowered:
            if not self._runs_as_python:
                with contextlib.suppress(DatasetReadDuringTrace):
                    return self._compiled(get_strategy(), args, kwargs, lower_step)
            raise NotImplementedError(
                f"{self._name} asks a dataset for elements, or has arrays of unknown shape, so it runs as Python, and is "
                "no program to look at. "
                "Move what it does with an element into a tf.function of its own, and ask that one: "
                "train_step.get_concrete_function(next(iter(dataset)))."
            )

        def lower_step(step: _Step) -> Lowered:
            return step.lower(
                *abstract_arguments(args, step.mesh), **abstract_arguments(kwargs, step.mesh)
            )

        signature = specs_of(args), specs_of(kwargs)
        can_lower = has_all_sizes(signature) and not is_of_host(signature)
        concrete = ConcreteFunction(
            self, self._name, self._forms, signature, lower if can_lower else None
        )
        self._remember(signature)
        return concrete

    def with_function(self, python_function: Callable[..., Any]) -> "Function":
        """Compiles another function with the same options, as a method of an object."""
        return Function(python_function, *self._options)

    def __get__(self, instance: object, owner: type | None = None) -> "Function":
        # A partial or another object that can be called is no method in Python either.
        is_method = instance is not None and hasattr(self.python_function, "__get__")
        return methods_of(instance).get(self, owner) if is_method else self

    def __reduce__(self) -> Any:
        # Programs belong to the objects that they were traced for, so a copy compiles its own.
        return Function, (self.python_function, *self._options)

    def __repr__(self) -> str:
        return f"<tf.function {self.python_function!r}>"

    @property
    def _name(self) -> str:
        return getattr(self.python_function, "__name__", repr(self.python_function))

    def _remember(self, signature: Call) -> None:
        named = [f"{name}={value!r}" for name, value in signature[1].items()]
        shown = f"{self._name}({', '.join([*map(repr, signature[0]), *named])})"
        self._signatures[shown] = signature

    def _remember_inner_call(self, args: Nested, kwargs: Nested) -> None:
        """Remembers a call in another function or under a tape, where TensorFlow makes a program of this one, too."""
        if in_map_on_host() or (in_replica() and _has_replicas(get_strategy())):
            return
        kinds = tuple(
            (one.shape, one.dtype) if isinstance(one, jax.Array) else None for one in args
        )
        if not kwargs and None not in kinds:
            if kinds in self._inner_calls:
                return
            self._inner_calls.add(kinds)
        positional, named = self._forms.one(args, kwargs)
        signature = specs_of(positional), specs_of(named)
        if all(map(_can_be_saved, leaves_of(signature))):
            self._remember(signature)

    def _make_step(self, function: Callable[..., Any], strategy: StrategyLike, mesh: Mesh) -> _Step:
        options = StepOptions(trace_numbers=self._options[-1])
        return CrossReplicaStep(
            function, mesh, state=SEARCHED, options=options, on_made=self._check_made
        )

    def _check_made(self, variables: Sequence[object], at_each_call: bool) -> None:
        """Checks that variables are made at the first call only, and kept; those of Keras may be made at any."""
        names = ", ".join(repr(one) for one in variables if isinstance(one, Variable))
        if names and (at_each_call or self.experimental_get_tracing_count()):
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
                f"tf.Variable is only created once or created outside tf.function. {self._name} made {names}. Keep "
                "it:\n    if self.v is None:\n        self.v = tf.Variable(...)"
            )

    def _run_fed(self, args: Nested, kwargs: Nested) -> Any:
        """Runs the function as a program that is given what its loops read; `NOT_FED` if it is none."""
        if functions_run_eagerly():
            return NOT_FED
        strategy = get_strategy()
        mesh = mesh_of_iterators(args, kwargs)
        if mesh is None:
            return NOT_FED

        def make(function: Callable[..., Any]) -> _Step:
            return CrossReplicaStep(function, mesh, state=SEARCHED)

        while True:
            key = strategy, mesh, self._taped.function
            loops = self._fed.setdefault(key, FedLoops(self._taped.function, make))
            try:
                with traced_function():
                    return loops.call(args, kwargs)
            except TapeNeeded:
                self._taped.add_tape()

    def _warn_as_python(self, advice: str) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"{self._name} runs as Python, operation by operation, and not as a program. {advice}",
            stacklevel=user_stacklevel(),
        )

    def _run_as_python(self, args: Nested, kwargs: Nested, result: Any = NOT_FED) -> Any:
        if result is not NOT_FED:
            return result
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
            DatasetReadDuringTrace: it cannot be one, and can run as Python.
        """
        mesh = _mesh_of((args, kwargs)) or self._meshes.get(strategy, strategy.mesh)
        traced = self.experimental_get_tracing_count()
        try:
            result, other = None, None
            try:
                result = self._traced(strategy, mesh, use)
            except WrongMeshError as error:
                other = error.mesh  # known only once the function runs a strategy
            if other is not None:
                result = self._traced(strategy, other, use)
                self._meshes[strategy] = other
            if self.experimental_get_tracing_count() > traced:
                self._remember((specs_of(args), specs_of(kwargs)))
            return result
        except _CONCRETE_VALUE_ERRORS:
            # Python's `for _ in tf.range(k): next(iterator)` fails before it gets to the iterator.
            if reads_dataset(self.python_function, args, kwargs):
                raise DatasetReadDuringTrace from None
            raise

    def _traced(self, strategy: StrategyLike, mesh: Mesh, use: Callable[[_Step], Any]) -> Any:
        while True:
            step = self._steps.get(self._taped.function, strategy, mesh)
            try:
                with traced_function():
                    result = use(step)
            except TapeNeeded:
                self._taped.add_tape()
                continue
            self._last = (strategy, step)
            return result


class FunctionOptions(TypedDict, total=False):
    """TensorFlow's options of `tf.function`; but for `autograph` and `reduce_retracing`, they change nothing here.

    Programs are always compiled by XLA, and always made for the shapes that come. `reduce_retracing` traces Python
    numbers from the first call on, where the function can do with arrays.

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
    func: Callable[..., Any],
    input_signature: Sequence[Nested] | None = None,
    **options: Unpack[FunctionOptions],
) -> Function: ...


@overload
def function(
    func: None = None,
    input_signature: Sequence[Nested] | None = None,
    **options: Unpack[FunctionOptions],
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Nested] | None = None,
    **options: Unpack[FunctionOptions],
) -> Any:
    """Compiles a function, with every `strategy.run` and `strategy.reduce` in it, into one program.

    Python's control flow on tensors becomes control flow of the program (`tf.autograph`), unless
    `autograph=False`.

    A function that asks a dataset, or an iterator of one, for elements is not one program, which could
    not take them out of Python: its trace is abandoned before anything is read, and from then on it runs
    as Python. So at the first call what stands before the loop runs twice, first with traced values, as
    TensorFlow's traces do: a `print` there prints twice, `tf.print` once. Each `strategy.run` and each
    `tf.function` in it is a program, compiled once, as it would be outside. What stands between them runs
    operation by operation, so a loop over a dataset without a strategy is best left outside, and its body
    compiled. Python's `if` and `while` work on values there.

    An `input_signature` is what the function takes, a `tf.TensorSpec` for each parameter without a default that is
    to stay: dtypes and numbers of dimensions have to fit, Python's and NumPy's numbers are converted. XLA needs sizes,
    so those that are None have a program each. A Python number without a spec stays one for the first call: see
    `Function.__call__`.

    Returns:
        The compiled function, or a decorator.

    Raises:
        TypeError: `func` cannot be called, TensorFlow has no such option, or the signature does not fit the
            parameters.

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
    unknown = sorted(set(options) - FunctionOptions.__optional_keys__)
    if unknown:
        raise TypeError(
            f"tf.function has no option {unknown[0]!r}. It takes func, input_signature, "
            f"{', '.join(sorted(FunctionOptions.__optional_keys__))}."
        )
    autograph = options.get("autograph", True)
    names = "reduce_retracing", "experimental_relax_shapes"  # the latter is its former name
    reduce_retracing = any(options.get(name) for name in names)

    def compiled(python_function: Callable[..., Any]) -> Function:
        return Function(python_function, autograph, input_signature, reduce_retracing)

    return compiled if func is None else compiled(func)


_TEXTS = (
    "An argument is a text, which is in host memory, and no part of a program. Call it in a map of the dataset, or give it "
    "arrays of numbers; a text that chooses what it computes is best one of Python's: 'mean', and not tf.constant('mean')."
)
_CONCRETE_VALUE_ERRORS = (*NEEDS_VALUE, UnknownLengthError)


def _has_replicas(strategy: StrategyLike) -> bool:
    """Tells whether a function that a strategy runs is one of several in TensorFlow, which saves none of these."""
    return strategy.combines_values and not strategy.is_default


def _can_be_saved(leaf: Nested) -> bool:
    """Tells whether a part of a call is a tensor of known sizes, or a plain value."""
    if isinstance(leaf, TensorSpec):
        return leaf.shape is not None and all(isinstance(size, int) for size in leaf.shape)
    return is_plain(leaf)


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


# A worker of another process keeps its copy, and with it the programs.
register_reducer(Function, Function.__reduce__)
