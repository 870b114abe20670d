"""A `tf.Module` as an artifact: its functions as programs, and its variables under their attributes."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import jax

from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.call_forms import signature_of
from frontends.tf.concrete_function import ConcreteFunction
from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import as_dtype
from frontends.tf.function import Function
from frontends.tf.gradient_sources import is_variable, value_of
from frontends.tf.module import Module
from frontends.tf.ops.convert import convert_to_tensor
from spmd import export
from spmd.errors import ExportError
from spmd.state import discover
from spmd.typing import StrPath

# Notes of the artifact. Programs of methods have names that no signature has.
FUNCTIONS, ATTRIBUTES = "functions", "attributes"
METHOD = "method-{name}"
_SERVING_DEFAULT = "serving_default"
# Of a program's arguments: names in order, each with the names of its tensors.
Parameters = list[tuple[str, list[str]]]


def write_module(module: Module, path: StrPath, signatures: Any) -> None:
    """Writes a module as an artifact. Blocks until it is on disk; only one process must call it.

    Args:
        module: its methods that are `tf.function`s with an `input_signature` become programs.
        path: the directory.
        signatures: a `tf.function` with an `input_signature`, a concrete function, or a dict of them by name.

    Raises:
        ExportError: a function cannot be exported, or uses variables that are not in the module.
        TypeError: `signatures` are no such functions.
    """
    variables = list(module.variables)
    endpoints: dict[str, export.Endpoint] = {}
    functions: dict[str, Any] = {}
    for name in sorted(set(dir(type(module))) | set(vars(module))):
        method = inspect.getattr_static(module, name, None)
        if isinstance(method, Function) and method.input_signature is not None:
            endpoint, parameters = _endpoint(name, getattr(module, name), variables)
            endpoints[METHOD.format(name=name)] = endpoint
            functions[name] = parameters
    for name, function in _named(signatures).items():
        endpoints[name], _ = _endpoint(name, function, variables)
    places = module._flatten(predicate=is_variable, with_path=True)
    indices = {id(one): index for index, one in enumerate(variables)}
    export.save(
        path,
        endpoints,
        [
            (str(getattr(one, "name", "variable")).partition(":")[0], value_of(one))
            for one in variables
        ],
        notes={
            "trainable": [bool(getattr(one, "trainable", True)) for one in variables],
            FUNCTIONS: functions,
            ATTRIBUTES: [
                [list(where), indices[id(one)]] for where, one in places if id(one) in indices
            ],
        },
    )


def _named(signatures: Any) -> dict[str, Any]:
    found: Any = {} if signatures is None else signatures
    found = dict(found) if isinstance(found, Mapping) else {_SERVING_DEFAULT: found}
    for name, function in found.items():
        declared = isinstance(function, ConcreteFunction) or (
            isinstance(function, Function) and function.input_signature is not None
        )
        if not declared:
            raise TypeError(
                f"The signature {name!r} must be a tf.function with an input_signature, or what get_concrete_function "
                f"gives, got {function!r}. Write f.get_concrete_function(tf.TensorSpec(shape, dtype))."
            )
    return found


def _endpoint(
    name: str, function: Function | ConcreteFunction, variables: Sequence[Any]
) -> tuple[export.Endpoint, Parameters]:
    if isinstance(function, ConcreteFunction):
        (args, kwargs), traced = (
            function.structured_input_signature,
            cast(Function, function.__wrapped__),
        )
        names = [str(index) for index in range(len(args))]
    else:
        args, kwargs, traced = tuple(function.input_signature or ()), {}, function
        names = _parameters(traced.python_function, len(args))
    given = [*zip(names, args, strict=True), *kwargs.items()]
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_spec)
    specs: list[export.ArraySpec] = []
    parameters: Parameters = []
    for name_of, tree in given:
        below = [leaf for leaf in jax.tree.leaves(tree, is_leaf=_is_spec) if _is_spec(leaf)]
        labels = [spec.name or name_of for spec in below]
        if len(set(labels)) < len(labels):
            labels = [f"{name_of}_{index}" for index in range(len(below))]
        dtypes = [as_dtype(spec.dtype).name for spec in below]
        columns = zip(labels, below, dtypes, strict=True)
        specs += [
            export.ArraySpec(label, tuple(spec.shape), dtype) for label, spec, dtype in columns
        ]
        if below:
            parameters.append((labels[0] if len(labels) == 1 else name_of, labels))
    run = _stateless(name, traced, variables)

    def call(weights: list[Any], inputs: list[Any]) -> tuple[Any, dict[int, Any]]:
        rest = iter(inputs)
        filled = [next(rest) if _is_spec(leaf) else leaf for leaf in leaves]
        some, named = jax.tree.unflatten(structure, filled)
        return run(weights, some, named)

    return export.Endpoint(call, specs), parameters


def _stateless(
    name: str, function: Function, variables: Sequence[Any]
) -> Callable[[list[Any], Any, Any], tuple[Any, dict[int, Any]]]:
    """Makes a function take the values of variables, and return those that it changes."""
    python = converted(function.python_function, function.autograph)
    table, _ = discover(python)
    indices = {id(one): index for index, one in enumerate(variables)}
    foreign = [one for one in table.variables if id(one) not in indices]
    if foreign:
        raise ExportError(
            f"The function {name!r} uses {foreign[0]!r}, which is not in the module. Keep it in an attribute: "
            "self.v = v."
        )
    order = [indices[id(one)] for one in table.variables]

    def run(weights: list[Any], args: Any, kwargs: Any) -> tuple[Any, dict[int, Any]]:
        before = [weights[index] for index in order]
        with table.lifted(before):
            result = jax.tree.map(convert_to_tensor, python(*args, **kwargs), is_leaf=is_variable)
            after = table.read()
        columns = zip(order, before, after, strict=True)
        return result, {index: new for index, old, new in columns if new is not old}

    return run


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    signature = signature_of(function)
    names = [] if signature is None else list(signature.parameters)
    return [names[index] if index < len(names) else f"args_{index}" for index in range(count)]


def _is_spec(tree: Nested) -> bool:
    return isinstance(tree, TensorSpec)
