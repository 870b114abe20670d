"""Variables by name: `tf.compat.v1.get_variable` and `variable_scope`."""

import contextlib
import contextvars
import dataclasses
import enum
import functools
import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax.numpy as jnp

from frontends.tf._initializers import INITIALIZERS
from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collection, add_to_collections
from frontends.tf.compat.v1.initializers.constants import Zeros
from frontends.tf.compat.v1.initializers.scaling import GlorotUniform
from frontends.tf.dtypes import as_dtype
from frontends.tf.graph import default_graph
from frontends.tf.ops.name_scope import name_scope
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.variable import Variable, new_variable
from spmd.assigned import assigned


class _Reuse(enum.Enum):
    AUTO_REUSE = 1

    def __repr__(self) -> str:
        return "tf.AUTO_REUSE"


AUTO_REUSE = _Reuse.AUTO_REUSE
Reuse = bool | _Reuse | None


@dataclasses.dataclass(eq=False)
class VariableScope:
    """What holds for the variables of a scope.

    Attributes:
        name: before the names of its variables, without a slash at its end.
        original_name_scope: before the names of its operations, with a slash at its end.
        reuse: True if variables are to exist, `tf.AUTO_REUSE` if they may, False or None if they may not.
        initializer: of variables that name none.
        regularizer: likewise.
        constraint: likewise.
        dtype: likewise.
        partitioner: None, unless TensorFlow would divide its variables: here they stay whole, but optimizers name their slots
            as TensorFlow does then.
        custom_getter: see `variable_scope`.

    Source: `tf.compat.v1.VariableScope`.
    """

    name: str = ""
    reuse: Reuse = False
    initializer: Any = None
    regularizer: Any = None
    constraint: Any = None
    dtype: DTypeLike = jnp.float32
    partitioner: Any = None
    original_name_scope: str = ""
    custom_getter: Any = None

    @property
    def prefix(self) -> str:
        """The name, with a slash at its end; not a name of TensorFlow."""
        return f"{self.name}/" if self.name else ""

    def reuse_variables(self) -> None:
        """Has the scope reuse variables from now on."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the regularizer."""
        self.regularizer = regularizer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Sets the dtype."""
        self.dtype = dtype

    def set_partitioner(self, partitioner: object) -> None:
        """Sets the partitioner, by which slots are named."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the function that makes variables."""
        self.custom_getter = custom_getter

    def set_caching_device(self, caching_device: object) -> None:
        """Does nothing: XLA places what programs read.

        Args:
            caching_device: accepted, and not used.
        """

    def set_use_resource(self, use_resource: object) -> None:
        """Does nothing: there is one kind of variables.

        Args:
            use_resource: accepted, and not used.
        """

    def global_variables(self) -> list[Any]:
        """Lists the scope's variables."""
        return self._below(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """Lists the scope's variables that optimizers train."""
        return self._below(GraphKeys.TRAINABLE_VARIABLES)

    def _below(self, key: str) -> list[Any]:
        every = default_graph().collections[key]
        return [one for one in every if one.name.startswith(self.prefix)]


_SCOPE = contextvars.ContextVar[VariableScope | None]("tf_variable_scope", default=None)


def get_variable_scope() -> VariableScope:
    """Returns the scope of the code that runs; at the top, that of the model function's call."""
    return _SCOPE.get() or default_graph().kept.setdefault(VariableScope, VariableScope())


@contextlib.contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: Sequence[Any] | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: object = None,
    partitioner: object = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: Reuse = None,
    dtype: DTypeLike = None,
    use_resource: object = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Generator[VariableScope]:
    """Puts a name before those of variables, and says what holds for them.

    Args:
        name_or_scope: below the scope around it; a scope is entered again, wherever it is.
        default_name: made unique in the scope around, if `name_or_scope` is None. A scope that is entered another time
            gives the same names again.
        initializer: of variables that name none; None leaves that of the scope around.
        regularizer: likewise.
        reuse: True if variables are to exist, `tf.AUTO_REUSE` if they may; None leaves that of the scope around.
        dtype: of variables that name none.
        constraint: likewise.
        partitioner: see `VariableScope`.
        custom_getter: called in the place of `get_variable`, with what makes or finds the variable (`getter`) and its
            arguments, by name; what it returns is what `get_variable` gives. That of a scope around is `getter` to one inside.

    Yields:
        The scope.

    Raises:
        ValueError: there is no name.

    Source: `tf.compat.v1.variable_scope`.
    """
    around = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        base, name = name_or_scope, name_or_scope.name
        shown = name.rpartition("/")[2]
    else:
        if name_or_scope is None:
            if default_name is None:
                raise ValueError(
                    "variable_scope needs a name: give it name_or_scope or default_name."
                )
            name, shown = _unopened(f"{around.prefix}{default_name}"), default_name
        else:
            name, shown = f"{around.prefix}{name_or_scope}".rstrip("/"), name_or_scope.rstrip("/")
        base = around
    scope = VariableScope(
        name,
        # Once they are reused, variables of all scopes inside are.
        around.reuse or base.reuse if reuse is None or around.reuse is True else reuse,
        base.initializer if initializer is None else initializer,
        base.regularizer if regularizer is None else regularizer,
        base.constraint if constraint is None else constraint,
        base.dtype if dtype is None else dtype,
        base.partitioner if partitioner is None else partitioner,
        custom_getter=_chained(custom_getter, base.custom_getter),
    )
    names = (
        name_scope(shown)
        if auxiliary_name_scope and shown
        else contextlib.nullcontext(scope.prefix)
    )
    with (
        assigned(_SCOPE, scope),
        _opened(name, again=name_or_scope is base),
        names as scope.original_name_scope,
    ):
        yield scope


def _unopened(name: str) -> str:
    """Returns the name if no scope of the graph has it, or the first of `name_1`, `name_2`, ... that none has."""
    opened = default_graph().scopes
    numbered = (f"{name}_{index}" for index in itertools.count(1))
    return next(one for one in itertools.chain([name], numbered) if not opened[one])


@contextlib.contextmanager
def _opened(name: str, *, again: bool) -> Generator[None]:
    """Counts a scope; names below it are free once it is left, so that entering it again gives the same ones."""
    opened = default_graph().scopes
    opened[name] += 1
    before = dict(opened)
    try:
        yield
    finally:
        below = f"{name}/"
        if again:
            opened.clear()
            opened.update(before)
        else:
            for one in [one for one in opened if one.startswith(below)]:
                del opened[one]


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: object = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Returns the variable of a name; makes it where there is none.

    In a model function, the variables of its estimator are found again each time it is called, with the values that they have.

    Args:
        name: below that of the scope.
        shape: of the variable; None takes that of an initializer that is a value.
        dtype: None takes that of an initializer that is a value; else that of the scope, float32 if it names none.
        initializer: called with shape and dtype, or a value; None takes that of the scope, or
            `glorot_uniform_initializer` (zeros, for whole numbers).
        regularizer: called with the variable; what it returns is added to `REGULARIZATION_LOSSES`.
        trainable: whether optimizers train it; None means yes, unless `ON_READ`.
        collections: to add it to; None means `GLOBAL_VARIABLES`.
        constraint: see `tf.Variable`.
        synchronization: see `tf.Variable`.
        aggregation: see `tf.Variable`.
        custom_getter: see `variable_scope`; in the place of that of the scope.

    Raises:
        ValueError: the scope is to reuse a variable that does not exist, or not to reuse one that does; or the shape is
            unknown, or another one than that of the variable.

    Source: `tf.compat.v1.get_variable`.
    """
    scope = get_variable_scope()
    getter = custom_getter or scope.custom_getter
    initializer = scope.initializer if initializer is None else initializer
    if dtype is None:
        is_value = initializer is not None and not callable(initializer)
        dtype = jnp.asarray(initializer).dtype if is_value else scope.dtype
    arguments: dict[str, Any] = {
        "name": f"{scope.prefix}{name}",
        "shape": shape,
        "dtype": dtype,
        "initializer": initializer,
        "regularizer": regularizer or scope.regularizer,
        "reuse": scope.reuse,
        "trainable": trainable,
        "collections": collections,
        "partitioner": partitioner or scope.partitioner,
        "constraint": constraint or scope.constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    if getter is None:
        return _get(**arguments)
    arguments["dtype"] = as_dtype(arguments["dtype"])
    return getter(
        getter=_get,
        **arguments,
        caching_device=caching_device,
        validate_shape=validate_shape,
        use_resource=use_resource,
    )


def _get(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = jnp.float32,
    initializer: Any = None,
    regularizer: Any = None,
    reuse: Reuse = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: object = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Makes or finds a variable by its whole name; parameters in the order in which a custom getter may hand them on."""
    graph = default_graph()
    variables = graph.store.variables
    if name in graph.used:
        if not reuse:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        return _checked(name, variables[name], shape)
    if reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if name not in variables:
        with name_scope(""):  # the name is whole
            variables[name] = new_variable(
                _initial(name, shape, dtype, initializer),
                trainable=trainable,
                name=name,
                constraint=constraint,
                synchronization=synchronization,
                aggregation=aggregation,
            )
    variable = _checked(name, variables[name], shape)
    graph.used.add(name)
    if partitioner is not None and len(variable.shape):
        graph.partitioned.add(name)
    add_to_collections(
        [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections, variable
    )
    is_local = collections is not None and GraphKeys.LOCAL_VARIABLES in collections
    if is_local:
        graph.store.local.add(name)
    if variable.trainable and not is_local:
        add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)
    if regularizer is not None:
        loss = regularizer(variable)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _chained(inner: Any, outer: Any) -> Any:
    """Makes of the getters of two scopes one: the outer one is the getter of the inner one."""
    if inner is None or outer is None or inner is outer:
        return outer if inner is None else inner

    def chained(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return chained


def get_local_variable(name: str, *args: Any, **kwargs: Any) -> Variable:
    """Like `get_variable`, for a variable that checkpoints do not hold and optimizers do not train."""
    kwargs["collections"] = [GraphKeys.LOCAL_VARIABLES, *(kwargs.get("collections") or ())]
    kwargs["trainable"] = False
    return get_variable(name, *args, **kwargs)


def _initial(name: str, shape: ShapeLike, dtype: DTypeLike, initializer: Any) -> Callable[[], Any]:
    """Returns what computes a variable's first value."""
    if initializer is not None and not callable(initializer):
        return lambda: jnp.asarray(initializer, dtype)
    if shape is None:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was <unknown>. Give get_variable a shape."
        )
    sizes = TensorShape(shape).as_list()
    if None in sizes:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {tuple(sizes)}."
        )
    if initializer is None:
        is_real = jnp.issubdtype(jnp.dtype(dtype), jnp.inexact)
        initializer = GlorotUniform() if is_real else Zeros()
    elif isinstance(initializer, type) or initializer in INITIALIZERS.values():
        initializer = initializer()
    return lambda: initializer(sizes, dtype=jnp.dtype(dtype).name)


def _checked(name: str, variable: Variable, shape: ShapeLike) -> Variable:
    """Refuses another shape than that which a variable has."""
    if shape is not None and not TensorShape(shape).is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and found shape {variable.shape}."
        )
    return variable
