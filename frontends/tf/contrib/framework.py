"""`tf.contrib.framework`: scopes of arguments, variables by their collections, and former names of `tf.train` and `tf.nest`."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from frontends.tf import nest
from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization
from frontends.tf.compat.v1.collections import GraphKeys, get_collection
from frontends.tf.compat.v1.slots import name_of
from frontends.tf.compat.v1.train import restoring, steps
from frontends.tf.compat.v1.variable_scopes import VariableScope, get_variable
from frontends.tf.contrib.arg_scopes import add_arg_scope, arg_scope
from frontends.tf.contrib.layer_variables import Collections, collections_of
from frontends.tf.tensor import is_tensor

_Scope = str | VariableScope | None


def get_variables(
    scope: _Scope = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """Lists variables of a collection.

    Args:
        scope: whose variables; None means all.
        suffix: of their names.
        collection: its name.

    Source: `tf.contrib.framework.get_variables`.
    """
    prefix = scope.name if isinstance(scope, VariableScope) else scope
    found = get_collection(collection, prefix)
    return [one for one in found if suffix is None or name_of(one).endswith(f"/{suffix}")]


def get_trainable_variables(scope: _Scope = None, suffix: str | None = None) -> list[Any]:
    """Lists the variables that are trained; see `get_variables`.

    Source: `tf.contrib.framework.get_trainable_variables`.
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_model_variables(scope: _Scope = None, suffix: str | None = None) -> list[Any]:
    """Lists the variables of the collection `MODEL_VARIABLES`; see `get_variables`.

    Source: `tf.contrib.framework.get_model_variables`.
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_variables_to_restore(
    include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
) -> list[Any]:
    """Lists the variables of scopes but for those of others.

    Args:
        include: scopes; None means all variables.
        exclude: scopes.

    Source: `tf.contrib.framework.get_variables_to_restore`.
    """
    found = (
        get_variables()
        if include is None
        else [one for scope in include for one in get_variables(scope)]
    )
    left_out = [one for scope in exclude or () for one in get_variables(scope)]
    return [one for one in found if all(one is not other for other in left_out)]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Lists the variables whose names fit one of some patterns, and none of others.

    Args:
        var_list: variables.
        include_patterns: regular expressions; None means all variables.
        exclude_patterns: likewise; None leaves out none.
        reg_search: whether a pattern may fit anywhere in a name, or only at its beginning.

    Source: `tf.contrib.framework.filter_variables`.
    """
    fits: Callable[..., Any] = re.search if reg_search else re.match
    wanted, unwanted = list(include_patterns or [""]), list(exclude_patterns or ())
    return [
        one
        for one in var_list
        if any(fits(pattern, name_of(one)) for pattern in wanted)
        and not any(fits(pattern, name_of(one)) for pattern in unwanted)
    ]


def model_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Collections = None,
    caching_device: object = None,
    device: object = None,
    partitioner: object = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: object = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Makes a variable in the collection `MODEL_VARIABLES`, or finds it; see `tf.get_variable`.

    Args:
        name: below that of the scope.
        shape: see `tf.get_variable`.
        dtype: likewise.
        initializer: likewise.
        regularizer: likewise.
        trainable: whether optimizers train it.
        collections: to add it to, besides `GLOBAL_VARIABLES` and `MODEL_VARIABLES`.
        caching_device: see `tf.get_variable`.
        device: accepted, and not used: the strategy places variables.
        partitioner: see `tf.get_variable`.
        custom_getter: likewise.
        use_resource: likewise.
        synchronization: see `tf.Variable`.
        aggregation: likewise.

    Raises:
        ValueError: see `tf.get_variable`.

    Source: `tf.contrib.framework.model_variable`.
    """
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        trainable,
        [GraphKeys.GLOBAL_VARIABLES, *collections_of(name, collections)],
        caching_device,
        partitioner,
        use_resource=use_resource,
        custom_getter=custom_getter,
        synchronization=synchronization,
        aggregation=aggregation,
    )


_READERS = ("latest_checkpoint", "list_variables", "load_checkpoint", "load_variable")
__getattr__, __dir__ = attributes(
    "tf.contrib.framework",
    {
        **defined_in(__name__),
        **defined_in(steps.__name__),
        **defined_in(restoring.__name__),
        "add_arg_scope": add_arg_scope,
        "arg_scope": arg_scope,
        "is_tensor": is_tensor,
        "nest": nest,
    },
    borrowed=dict.fromkeys(_READERS, "frontends.tf.train"),
)
