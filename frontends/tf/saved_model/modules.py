"""A `tf.Module` as an artifact: its functions as programs, and its variables under their attributes."""

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import jax
from jax.extend.core import jaxpr_as_fun

from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.call_forms import Call, is_plain, signature_of
from frontends.tf.concrete_function import ConcreteFunction
from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import as_dtype
from frontends.tf.feature_column.class_names import ClassNames
from frontends.tf.function import Function
from frontends.tf.gradient_sources import is_variable, value_of
from frontends.tf.module import Module
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.spec_fitting import SPECS
from spmd import export
from spmd.errors import ExportError
from spmd.source_lines import user_stacklevel
from spmd.state import discover
from spmd.typing import StrPath

if TYPE_CHECKING:
    from jax.extend.core import Jaxpr

# Notes of the artifact. Programs of methods have names that no signature has.
FUNCTIONS, ATTRIBUTES, CONTAINERS = "functions", "attributes", "containers"
# By program: by the name of an output that is positions in a list of texts, the list.
TEXTS = "texts"
METHOD = "method-{number}"
# The program of a model's own call, where signatures were given: it is none.
CALL = "__call__"
_SERVING_DEFAULT = "serving_default"
_Path = tuple[str | int, ...]
_Texts = dict[str, list[str]]
# Of a declared tensor of unknown rank: a program has one rank.
_RANKS = range(5)


class _TakesTextsError(ExportError):
    """A function takes texts, and a program numbers only."""


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What one program of a method takes.

    Attributes:
        order: the names of the parameters.
        tensors: by the name of a parameter, the names of the tensors in it.
        fixed: by the name of a parameter, the only value that it may have.
        optional: the fixed ones that may be left out.
    """

    order: list[str] = dataclasses.field(default_factory=list)
    tensors: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    fixed: dict[str, Any] = dataclasses.field(default_factory=dict)
    optional: list[str] = dataclasses.field(default_factory=list)


def write_module(module: Module, path: StrPath, signatures: Any) -> None:
    """Writes a module as an artifact. Blocks until it is on disk; only one process must call it.

    Args:
        module: its methods and those of its submodules that are `tf.function`s become programs: one for the
            `input_signature`, else one for each kind of arguments that they were called with.
        path: the directory.
        signatures: a `tf.function` with an `input_signature`, a concrete function, or a dict of them by name.
            Functions that take texts are left out, with a warning.

    Raises:
        ExportError: a function cannot be exported, or uses variables that are not in the module.
        TypeError: `signatures` are no such functions.
    """
    variables = list(module.variables)
    endpoints: dict[str, export.Endpoint] = {}
    functions: list[tuple[_Path, list[tuple[str, dict[str, Any]]]]] = []
    texts: dict[str, _Texts] = {}  # filled when the programs are traced
    for where, function in _methods(module):
        name = ".".join(map(str, where))
        programs: list[tuple[str, dict[str, Any]]] = []
        for endpoint, arguments, chosen in _variants(name, function, variables):
            label = METHOD.format(number=len(endpoints))
            endpoints[label], texts[label] = endpoint, chosen
            programs.append((label, dataclasses.asdict(arguments)))
        if programs:
            functions.append((where, programs))
    for name, (endpoint, chosen) in signature_endpoints(signatures, variables).items():
        endpoints[name], texts[name] = endpoint, chosen
    places = module._flatten(predicate=is_variable, with_path=True)
    indices = {id(one): index for index, one in enumerate(variables)}
    left_out = export.save(
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
            CONTAINERS: list(_containers(module)),
            TEXTS: texts,
        },
    )
    for reason in left_out.values():
        _warn(reason)


def signature_endpoints(
    signatures: Any, variables: Sequence[Any]
) -> dict[str, tuple[export.Endpoint, _Texts]]:
    """Returns the programs of signatures by name, and the texts that each chooses, which are known when it was traced.

    A function that takes texts is left out, with a warning.

    Args:
        signatures: a `tf.function` with an `input_signature`, a concrete function, or a dict of them by name.
        variables: those that are saved.

    Raises:
        ExportError: a function cannot be exported.
        TypeError: `signatures` are no such functions.
    """
    found: dict[str, tuple[export.Endpoint, _Texts]] = {}
    for name, function in _named(signatures).items():
        traced, call = _declared(function)
        try:
            endpoint, _, texts = _endpoint(name, traced, call, variables)
        except _TakesTextsError as error:
            _warn(error)
        else:
            found[name] = endpoint, texts
    return found


def _modules(module: Module) -> Iterator[tuple[_Path, Module]]:
    """Yields a module and its submodules, with the names and keys that lead there."""
    yield (), module
    yield from module._flatten(predicate=lambda leaf: isinstance(leaf, Module), with_path=True)


def _containers(module: Module) -> Iterator[tuple[_Path, int | None]]:
    """Yields where lists and dicts are, and how long lists are; None stands for a dict."""

    def below(path: _Path, value: object) -> Iterator[tuple[_Path, int | None]]:
        if isinstance(value, (list, tuple)):
            yield path, len(value)
            for index, one in enumerate(value):
                yield from below((*path, index), one)
        elif isinstance(value, Mapping):
            yield path, None
            for key, one in value.items():
                if isinstance(key, (str, int)):
                    yield from below((*path, key), one)

    for path, owner in _modules(module):
        for name, value in vars(owner).items():
            yield from below((*path, name), value)


def _methods(module: Module) -> Iterator[tuple[_Path, Function]]:
    """Yields the compiled functions in a module and its submodules, with the names and keys that lead there."""
    for path, owner in _modules(module):
        for name in sorted(set(dir(type(owner))) | set(vars(owner))):
            if isinstance(inspect.getattr_static(owner, name, None), Function):
                yield (*path, name), getattr(owner, name)


def _variants(
    name: str, function: Function, variables: Sequence[Any]
) -> Iterator[tuple[export.Endpoint, Arguments, _Texts]]:
    """Yields the programs of a function: of what it declares, or of what it was called with.

    Raises:
        ExportError: what it declares cannot be exported.
    """
    declared = function.input_signature
    if declared is not None and not _has_unknown_rank(declared):
        try:
            yield _endpoint(name, function, (declared, {}), variables)
        except _TakesTextsError as error:
            _warn(error)
        return
    # What was called may be a step that trains, which nobody loads: no error, if it cannot be exported.
    for call in function.signatures if declared is None else _of_all_ranks(declared):
        try:
            endpoint, arguments, texts = _endpoint(name, function, call, variables)
        except ExportError as error:
            _warn(error)
        else:
            yield dataclasses.replace(endpoint, required=False), arguments, texts


def _warn(reason: ExportError) -> None:
    warnings.warn(f"Not saved: {reason}", stacklevel=user_stacklevel())


def _has_unknown_rank(tree: Nested) -> bool:
    return any(spec.shape is None for spec in _specs(tree))


def _of_all_ranks(declared: tuple[Nested, ...]) -> list[Call]:
    """Declares each of the ranks for tensors of which none is declared; a program has one."""

    def ranked(spec: Nested, rank: int) -> Nested:
        unknown = _is_spec(spec) and spec.shape is None
        return TensorSpec([None] * rank, spec.dtype, spec.name) if unknown else spec

    return [
        (jax.tree.map(lambda spec: ranked(spec, rank), declared, is_leaf=_is_spec), {})  # noqa: B023
        for rank in _RANKS
    ]


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


def _declared(function: Function | ConcreteFunction) -> tuple[Function, Call]:
    """Returns the function to trace, and its arguments."""
    if isinstance(function, ConcreteFunction):
        return cast(Function, function.__wrapped__), function.structured_input_signature
    return function, (tuple(function.input_signature or ()), {})


def _endpoint(
    name: str, function: Function, call: Call, variables: Sequence[Any]
) -> tuple[export.Endpoint, Arguments, _Texts]:
    """Returns what becomes a program, what it takes, and the texts that it chooses, which are known when it was traced."""
    args, kwargs = call
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_spec)
    specs: list[export.ArraySpec] = []
    arguments = Arguments()
    names = _parameters(function.python_function, len(args))
    for parameter, tree in [*zip(names, args, strict=True), *kwargs.items()]:
        below = _specs(tree)
        others = [leaf for leaf in jax.tree.leaves(tree, is_leaf=_is_spec) if not _is_spec(leaf)]
        if any(isinstance(leaf, SPECS) for leaf in others) or (below and others):
            raise ExportError(
                f"{name!r} was called with {tree!r} for {parameter!r}, but a program that is saved takes tensors of one "
                "replica, and other values in parameters of their own."
            )
        if not below:
            _fix(arguments, function.python_function, parameter, tree)
            continue
        labels = [spec.name or parameter for spec in below]
        taken = {spec.name for spec in specs}
        if len(set(labels)) < len(labels) or not taken.isdisjoint(labels):
            labels = [f"{parameter}_{index}" for index in range(len(below))]
        for label, spec in zip(labels, below, strict=True):
            if spec.shape is None:
                raise ExportError(
                    f"{name!r} takes {label!r} of unknown rank, but a program takes arrays of one rank. Declare it: "
                    "tf.TensorSpec([None, None], dtype)."
                )
            if as_dtype(spec.dtype).name == "string":
                raise _TakesTextsError(
                    f"{name!r} takes the texts {label!r}, but a program that is saved takes numbers only. Save a function of what it "
                    "makes of them, such as pixels, and make these where the saved model is called."
                )
            specs.append(export.ArraySpec(label, tuple(spec.shape), as_dtype(spec.dtype).name))
        arguments.order.append(parameter)
        arguments.tensors[parameter] = labels

    def filled(tensors: list[Any]) -> Call:
        rest = iter(tensors)
        return jax.tree.unflatten(
            structure, [next(rest) if _is_spec(leaf) else leaf for leaf in leaves]
        )

    texts: _Texts = {}
    compute = _stateless(name, function, filled, variables, texts)
    return export.Endpoint(compute, specs, derivatives=1), arguments, texts


def _fix(arguments: Arguments, function: Callable[..., Any], parameter: str, value: Nested) -> None:
    """Notes a value that a program was made for, if a file can hold it; others are part of the program alone."""
    if not is_plain(value) or isinstance(value, (bytes, complex)):
        return
    arguments.order.append(parameter)
    arguments.fixed[parameter] = value
    signature = signature_of(function)
    declared = signature.parameters.get(parameter) if signature is not None else None
    if declared is not None and type(declared.default) is type(value) and declared.default == value:
        arguments.optional.append(parameter)


def _stateless(
    name: str,
    function: Function,
    filled: Callable[[list[Any]], Call],
    variables: Sequence[Any],
    texts: _Texts,
) -> Callable[[list[Any], list[Any]], tuple[Any, dict[int, Any]]]:
    """Makes a function take the values of variables and its tensors, and return the variables that it changes.

    Args:
        name: for errors.
        function: whose program is wanted.
        filled: makes the arguments of tensors.
        variables: of the module.
        texts: where the lists are put that outputs choose texts from, by name of the output.
    """
    python = converted(function.python_function, function.autograph)
    table, _ = discover(python)
    indices = {id(one): index for index, one in enumerate(variables)}
    known = [one for one in table.variables if id(one) in indices]
    foreign = [one for one in table.variables if id(one) not in indices]
    order = [indices[id(one)] for one in known]

    def compute(values: list[Any], others: list[Any], tensors: list[Any]) -> Any:
        pairs = zip([*known, *foreign], [*values, *others], strict=True)
        given = {id(one): value for one, value in pairs}
        args, kwargs = filled(tensors)
        with table.lifted([given[id(one)] for one in table.variables]):
            result = jax.tree.map(convert_to_tensor, python(*args, **kwargs), is_leaf=is_variable)
            after = dict(zip(map(id, table.variables), table.read(), strict=True))
        changed = {
            str(index): after[id(one)]
            for index, one in zip(order, known, strict=True)
            if after[id(one)] is not given[id(one)]
        }
        return result, changed, [after[id(one)] for one in foreign]

    def run(weights: list[Any], tensors: list[Any]) -> tuple[Any, dict[int, Any]]:
        values, others = [weights[index] for index in order], [value_of(one) for one in foreign]
        program, shape = jax.make_jaxpr(compute, return_shape=True)(values, others, tensors)
        # What a function reaches it need not use: the optimizer beside the layers, say.
        for one, place in zip(foreign, program.jaxpr.invars[len(values) :], strict=False):
            if _is_used(program.jaxpr, place, foreign):
                raise ExportError(
                    f"The function {name!r} uses {one!r}, which is not in the module. Keep it in an attribute: self.v = v."
                )
        leaves = jaxpr_as_fun(program)(*jax.tree.leaves((values, others, tensors)))
        result, changed, _ = jax.tree.unflatten(jax.tree.structure(shape), leaves)
        result, chosen = _positions(result)
        texts.update(chosen)
        return result, {int(index): value for index, value in changed.items()}

    return run


def _positions(result: Nested) -> tuple[Nested, _Texts]:
    """Returns a result with the positions of texts in place of the texts, and the lists that these are positions in."""
    leaves, structure = jax.tree.flatten(result, is_leaf=_is_class_names)
    positions: Any = jax.tree.unflatten(
        structure, [leaf.ids if _is_class_names(leaf) else leaf for leaf in leaves]
    )
    named = zip(export.output_names(positions), leaves, strict=True)
    return positions, {name: list(leaf.names) for name, leaf in named if _is_class_names(leaf)}


def _is_class_names(node: object) -> bool:
    return isinstance(node, ClassNames)


def _is_used(program: "Jaxpr", place: object, foreign: Sequence[object]) -> bool:
    """Tells whether a program reads an argument, or gives another value for it."""
    last = program.outvars[len(program.outvars) - len(foreign) :]
    return all(place is not one for one in last) or any(
        place is one for equation in program.eqns for one in equation.invars
    )


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    signature = signature_of(function)
    names = [] if signature is None else list(signature.parameters)
    return [names[index] if index < len(names) else f"args_{index}" for index in range(count)]


def _specs(tree: Nested) -> list[TensorSpec]:
    return [leaf for leaf in jax.tree.leaves(tree, is_leaf=_is_spec) if _is_spec(leaf)]


def _is_spec(tree: Nested) -> bool:
    return isinstance(tree, TensorSpec)
