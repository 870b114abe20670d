"""Endpoints: functions that become programs of `jax.export`, and programs that are called."""

import dataclasses
import functools
import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.export

from spmd.errors import ExportError
from spmd.export.sizes import constraint_in
from spmd.typing import PyTree

# An artifact runs on all of these, wherever it was written.
PLATFORMS = ("cpu", "cuda", "tpu")


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An input, an output or a weight.

    Attributes:
        name: for an input or an output, its keyword.
        shape: sizes; None where any size will do.
        dtype: name of the dtype.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = ", ".join("None" if size is None else str(size) for size in self.shape)
        return f"{self.name}: {self.dtype}[{sizes}]"

    @staticmethod
    def from_json(entry: Mapping[str, Any]) -> "ArraySpec":
        """Reads what `dataclasses.asdict` made of one."""
        return ArraySpec(entry["name"], tuple(entry["shape"]), entry["dtype"])


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A function to export.

    Attributes:
        function: takes the list of weights and the inputs; returns the outputs, and a dict of the weights
            that it changes, by index in the list.
        inputs: an `ArraySpec` for each input, in tuples, lists and dicts as the function takes them.
        required: whether an artifact that cannot have it is an error, and not one without it.
        derivatives: how many times the program can be differentiated, if the function can. Each time makes the program two
            to three times as large.
    """

    function: Callable[[list[Any], Any], tuple[Any, dict[int, Any]]]
    inputs: PyTree
    required: bool = True
    derivatives: int = 0


@dataclasses.dataclass(frozen=True)
class LoadedEndpoint:
    """An endpoint of an artifact.

    Attributes:
        name: its name.
        inputs: its inputs, flat: dicts in the order of their keys.
        outputs: its outputs, flat.
    """

    name: str
    inputs: tuple[ArraySpec, ...]
    outputs: tuple[ArraySpec, ...]
    _exported: jax.export.Exported

    def __call__(self, weights: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, dict[int, Any]]:
        """Computes the outputs. Compiles once for each shape of the inputs.

        Args:
            weights: all weights of the artifact, in its order.
            inputs: arrays, flat.

        Returns:
            The outputs, in the structure that the function returned, and the new values of the weights
            that changed, by index.
        """
        outputs, changed = self._run(list(weights), list(inputs))
        return outputs, {int(index): value for index, value in changed.items()}

    @functools.cached_property
    def _run(self) -> Callable[..., Any]:
        return jax.jit(self._exported.call)


def compile_endpoint(
    name: str, endpoint: Endpoint, weights: Sequence[jax.ShapeDtypeStruct]
) -> tuple[dict[str, Any], bytes]:
    """Compiles an endpoint.

    Returns:
        Its description for the manifest, and the program.

    Raises:
        ExportError: it cannot be exported.
    """
    specs = jax.tree.leaves(endpoint.inputs)

    def flat(values: list[Any], arrays: list[Any]) -> tuple[Any, dict[str, Any]]:
        inputs = jax.tree.unflatten(jax.tree.structure(endpoint.inputs), arrays)
        outputs, changed = endpoint.function(values, inputs)
        return outputs, {str(index): value for index, value in changed.items()}

    try:
        exported = _exported(flat, weights, specs)
        program = _serialized(exported, endpoint.derivatives)
    except ExportError:  # of the function itself: it says what to do
        raise
    except Exception as error:
        fixed = ", ".join(str(spec) for spec in specs)
        raise ExportError(
            f"The endpoint {name!r} cannot be exported with the inputs {fixed}: {type(error).__name__}: {error}\nNone "
            "stands for a size that the caller chooses. If the error is about such a size, fix it in the inputs; in "
            "Keras that is keras.Input(batch_shape=(32, ...))."
        ) from error
    outputs, _ = jax.tree.unflatten(exported.out_tree, exported.out_avals)
    leaves, names = jax.tree.leaves(outputs), output_names(outputs)
    _, given = jax.tree.unflatten(exported.in_tree, exported.in_avals)[0]
    described = {
        "inputs": [spec_of(spec.name, aval) for spec, aval in zip(specs, given, strict=True)],
        "outputs": [spec_of(name, aval) for name, aval in zip(names, leaves, strict=True)],
        "sha256": hashlib.sha256(program).hexdigest(),
    }
    return described, program


def output_names(outputs: PyTree) -> list[str]:
    """Names the outputs of an endpoint's function, flat: the keys of a dict of arrays, else by number.

    Examples:
        >>> output_names({"mean": 1, "all": 2}), output_names((1, {"all": 2}))
        (['all', 'mean'], ['output_0', 'output_1'])
    """
    leaves = jax.tree.leaves(outputs)
    if isinstance(outputs, dict) and len(leaves) == len(outputs):
        return [str(name) for name in sorted(outputs)]
    return [f"output_{index}" for index in range(len(leaves))]


def _exported(
    function: Callable[..., Any],
    weights: Sequence[jax.ShapeDtypeStruct],
    specs: Sequence[ArraySpec],
) -> jax.export.Exported:
    """Exports a function with the open sizes that it leaves open: what it decides itself is found out."""
    constraints: list[str] = []
    while True:
        # Traced anew: JAX remembers the trace of a function, and its symbols have a scope.
        program = jax.jit(functools.partial(function))
        try:
            inputs = _symbolic(specs, constraints)
            return jax.export.export(program, platforms=PLATFORMS)(list(weights), inputs)
        except Exception as error:
            constraint = constraint_in(error)
            if constraint is None or constraint in constraints:
                raise
            constraints.append(constraint)


def _symbolic(specs: Sequence[ArraySpec], constraints: Sequence[str]) -> list[jax.ShapeDtypeStruct]:
    scope = jax.export.SymbolicScope(constraints)
    # The number of rows is the same for all inputs; other open sizes may differ.
    letters = (f"d{number}" for number in itertools.count())
    inputs: list[jax.ShapeDtypeStruct] = []
    for spec in specs:
        sizes = [
            ("rows" if axis == 0 else next(letters)) if size is None else str(size)
            for axis, size in enumerate(spec.shape)
        ]
        shape = jax.export.symbolic_shape(f"({', '.join([*sizes, ''])})", scope=scope)
        inputs.append(jax.ShapeDtypeStruct(shape, spec.dtype))
    return inputs


def _serialized(exported: jax.export.Exported, derivatives: int) -> bytes:
    try:
        return bytes(exported.serialize(vjp_order=derivatives))
    except Exception:  # a loop that ends when it likes, say, has no derivative, but can be called
        if not derivatives:
            raise
        return bytes(exported.serialize())


def read_program(file: Path, expected: str) -> jax.export.Exported:
    """Reads a program whose SHA-256 must be as expected: JAX itself does not detect damage."""
    content = file.read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        raise ValueError(f"the SHA-256 of {file.name} is {found}, not {expected}")
    return jax.export.deserialize(bytearray(content))


def spec_of(name: str, array: Any) -> ArraySpec:
    """Describes an array, or an output whose symbolic sizes any size may take."""
    shape = tuple(size if isinstance(size, int) else None for size in array.shape)
    return ArraySpec(name, shape, array.dtype.name)
