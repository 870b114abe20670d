"""`tf.saved_model.load`: models that predict without their code, by the program that was saved."""

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.concrete_function import specs_of
from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import as_dtype
from frontends.tf.saved_model.modules import (
    ATTRIBUTES,
    CALL,
    CONTAINERS,
    FUNCTIONS,
    TEXTS,
    Arguments,
)
from frontends.tf.saved_model.options import LoadOptions
from frontends.tf.saved_model.received import RECEIVED, Received, described_names
from frontends.tf.variable import Variable
from spmd import export
from spmd.errors import ExportError
from spmd.typing import StrPath


class Signature:
    """A function of a loaded model, with inputs and outputs by name.

    Attributes:
        inputs: names, shapes and dtypes; None is a size that the caller chooses.
        outputs: likewise.

    Source: `tf.types.experimental.ConcreteFunction`.
    """

    def __init__(
        self,
        endpoint: export.LoadedEndpoint,
        variables: list[Variable],
        notes: Mapping[str, Any],
    ) -> None:
        """Makes the function; compiles nothing yet.

        Args:
            endpoint: the program.
            variables: its weights.
            notes: what else is known of the inputs.
        """
        received = Received(endpoint, notes)
        self.inputs: Sequence[export.ArraySpec] = received.specs
        self.outputs: Sequence[export.ArraySpec] = received.outputs
        self._received = received
        # The engine follows `__wrapped__` when it looks for the variables that a step uses.
        self.__wrapped__ = functools.partial(_run, endpoint, variables, received)

    @property
    def structured_input_signature(self) -> tuple[tuple[()], dict[str, TensorSpec]]:
        """The inputs, all by name.

        Source: `tf.types.experimental.ConcreteFunction.structured_input_signature`.
        """
        return (), _specs(self.inputs)

    @property
    def structured_outputs(self) -> dict[str, TensorSpec]:
        """The outputs by name.

        Source: `tf.types.experimental.ConcreteFunction.structured_outputs`.
        """
        return _specs(self.outputs)

    def __call__(self, *args: TensorLike, **kwargs: TensorLike) -> dict[str, Any]:
        """Computes the outputs.

        Args:
            *args: at most one array, if there is one input.
            **kwargs: an array for each input.

        Returns:
            The outputs by name.

        Raises:
            TypeError: an input is missing, unknown, or of another dtype.
            ValueError: an input has another shape.
        """
        names = [spec.name for spec in self.inputs]
        if len(args) == 1 and len(names) == 1 and not kwargs:
            kwargs, args = {names[0]: args[0]}, ()
        if args or set(kwargs) != set(names):
            given = [*("an array without a name" for _ in args), *kwargs]
            raise TypeError(
                f"The signature takes {', '.join(map(str, self.inputs))}, by name, but got "
                f"{', '.join(given) or 'nothing'}. Write signature({', '.join(f'{n}=...' for n in names)})."
            )
        inputs = [kwargs[name] for name in names]
        outputs = self.__wrapped__(inputs)
        return {
            spec.name: self._received.given(spec.name, leaf, inputs)
            for spec, leaf in zip(self.outputs, jax.tree.leaves(outputs), strict=True)
        }


def _specs(arrays: Sequence[export.ArraySpec]) -> dict[str, TensorSpec]:
    return {one.name: TensorSpec(one.shape, as_dtype(one.dtype), one.name) for one in arrays}


def _run(
    endpoint: export.LoadedEndpoint,
    variables: list[Variable],
    received: Received,
    inputs: Sequence[TensorLike],
) -> Any:
    return _run_on_arrays(endpoint, variables, received.arrays(inputs))


def _run_on_arrays(
    endpoint: export.LoadedEndpoint, variables: list[Variable], arrays: list[jax.Array]
) -> Any:
    outputs, changed = endpoint([variable.value() for variable in variables], arrays)
    for index, value in changed.items():
        variables[index].assign(value)
    return outputs


def _run_with_texts(
    endpoint: export.LoadedEndpoint,
    variables: list[Variable],
    received: Received,
    arrays: list[jax.Array],
) -> Any:
    leaves, structure = jax.tree.flatten(_run_on_arrays(endpoint, variables, arrays))
    named = zip(endpoint.outputs, leaves, strict=True)
    return jax.tree.unflatten(
        structure, [received.given(spec.name, leaf, arrays) for spec, leaf in named]
    )


class LoadedModel:
    """A model without its code. It only predicts; to train it on, use `tf.keras.models.load_model`.

    Attributes:
        signatures: the functions by name; a Keras model has `serving_default`, or those that were given when it was saved.
        variables: the weights.

    Source: what `tf.saved_model.load` returns.
    """

    def __init__(self, functions: Mapping[str, Signature], variables: list[Variable]) -> None:
        """Makes the model; use `tf.saved_model.load`."""
        self.signatures = {name: one for name, one in functions.items() if name != CALL}
        self.variables = variables
        self._call = functions.get(CALL, functions.get("serving_default"))
        self.__wrapped__ = tuple(functions.values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The weights that training changed."""
        return [variable for variable in self.variables if variable.trainable]

    def __call__(self, *inputs: Nested, training: bool | None = None) -> Any:
        """Predicts as the saved model did.

        Args:
            *inputs: as the model took them.
            training: must not be True.

        Returns:
            In the structure that the model returned.

        Raises:
            TypeError: the inputs are not those that the model takes.
            ValueError: an input has another shape, or `training` is True.
        """
        if training:
            raise ValueError(
                "A loaded program only predicts, but training=True was given. Load the model with "
                "tf.keras.models.load_model(path) to train it."
            )
        signature = self._call
        if signature is None:
            raise TypeError(
                "Only a model with the signature 'serving_default' can be called, but this one has "
                f"{', '.join(self.signatures)}. Call one of those: loaded.signatures[name](...)."
            )
        leaves = jax.tree.leaves(inputs)
        if len(leaves) != len(signature.inputs):
            raise TypeError(
                f"The model takes {', '.join(map(str, signature.inputs))}, but got {len(leaves)} "
                "array(s). Give them as the saved model took them."
            )
        return signature.__wrapped__(leaves)


class LoadedFunction:
    """A method of a loaded module, for the arguments that it was declared for or called with.

    Source: what `tf.saved_model.load` gives for a `tf.function`.
    """

    def __init__(
        self,
        name: str,
        programs: Sequence[tuple[export.LoadedEndpoint, Arguments, Mapping[str, Any]]],
        variables: list[Variable],
    ) -> None:
        """Makes the function; compiles nothing yet.

        Args:
            name: for people.
            programs: the program for each kind of arguments, what they are, and what else is known of its outputs.
            variables: the weights.
        """
        self._name = name
        self._programs = [_LoadedProgram(name, *one, variables) for one in programs]
        # The engine follows it to the variables that a step uses.
        self.__wrapped__ = tuple(one.run for one in self._programs)

    def __call__(self, *args: Nested, **kwargs: Nested) -> Any:
        """Computes what the function returned.

        Args:
            *args: for each parameter a tensor, or tensors in the structure that it had.
            **kwargs: likewise, by name.

        Raises:
            TypeError: an argument is missing, unknown, or of another dtype.
            ValueError: an input has another shape, or there are several programs, and none is for the arguments.
        """
        if len(self._programs) == 1:
            return self._programs[0](args, kwargs)
        for program in self._programs:
            try:
                arrays = program.arrays(args, kwargs)
            except (TypeError, ValueError):
                continue
            return program.run(arrays)
        expected = "".join(f"\n    {one}" for one in self._programs)
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got "
            f"{len(args)} arguments by position and {', '.join(kwargs) or 'none'} by name: {specs_of(args)!r}, "
            f"{specs_of(kwargs)!r}. {self._name} was saved for:{expected}\nCall it so before it is saved, too."
        )


class _LoadedProgram:
    """One of the programs of a method."""

    def __init__(
        self,
        name: str,
        endpoint: export.LoadedEndpoint,
        arguments: Arguments,
        notes: Mapping[str, Any],
        variables: list[Variable],
    ) -> None:
        self._name = name
        self._arguments = arguments
        self._inputs = endpoint.inputs
        self._received = Received(endpoint, notes)
        self.run = functools.partial(_run_with_texts, endpoint, variables, self._received)

    def __str__(self) -> str:
        fixed = [f"{name}={value!r}" for name, value in self._arguments.fixed.items()]
        return f"{self._name}({', '.join([*map(str, self._inputs), *fixed])})"

    def __call__(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> Any:
        return self.run(self.arrays(args, kwargs))

    def arrays(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> list[jax.Array]:
        """Makes what the program takes of the arguments of a call.

        Raises:
            TypeError: it is not one of this program.
            ValueError: a tensor has another shape.
        """
        tensors, fixed = self._arguments.tensors, self._arguments.fixed
        order = self._arguments.order
        given = dict(zip(order, args, strict=False)) | dict(kwargs)
        count = len(args) + len(kwargs)
        needed = set(order) - set(self._arguments.optional)
        if not needed <= set(given) <= set(order) or count != len(given):
            raise TypeError(
                f"{self._name} takes {', '.join(map(str, self._inputs)) or 'nothing'}, but got {len(args)} arguments by "
                f"position and {', '.join(kwargs) or 'none'} by name."
            )
        for name, value in fixed.items():
            found = given.get(name, value)
            if isinstance(found, jax.Array) or _as_json(found) != value:
                raise TypeError(
                    f"{self._name} was saved for {name}={value!r}, but got {found!r}. Call it so before it is saved, too."
                )
        found_leaves: list[Any] = []
        for parameter, labels in tensors.items():
            # A list of numbers is one tensor, if one was declared.
            value = given[parameter]
            found_leaves += [value] if len(labels) == 1 else jax.tree.leaves(value)
        if len(found_leaves) != len(self._inputs):
            raise TypeError(
                f"{self._name} takes {', '.join(map(str, self._inputs))}, but got {len(found_leaves)} arrays."
            )
        return self._received.arrays(found_leaves)


def _as_json(value: Any) -> Any:
    """Returns a value as it comes back from a file: tuples as lists."""
    return [_as_json(one) for one in value] if isinstance(value, tuple) else value


class LoadedObject:
    """A submodule without its code: what was in its attributes, variables and functions, is in those of this one.

    Source: what `tf.saved_model.load` gives for objects that others keep.
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        """Makes the object; use `tf.saved_model.load`."""
        self.__dict__.update(attributes)

    def __call__(self, *args: Nested, **kwargs: Nested) -> Any:
        """Calls the method `__call__` that was saved.

        Raises:
            TypeError: none was, or the arguments do not fit.
            ValueError: the arguments do not fit.
        """
        call = vars(self).get("__call__")
        if call is None:
            raise TypeError(
                "This module was saved without a method __call__. Make it a tf.function, and call it before it is saved, "
                "or declare what it takes: @tf.function(input_signature=[tf.TensorSpec(shape, dtype)])."
            )
        return call(*args, **kwargs)


class LoadedModule(LoadedObject):
    """A `tf.Module` without its code.

    Attributes:
        signatures: the functions by name that were saved as signatures.
        variables: all variables.

    Source: what `tf.saved_model.load` returns.
    """

    def __init__(
        self,
        signatures: Mapping[str, Signature],
        variables: list[Variable],
        attributes: Mapping[str, Any],
    ) -> None:
        """Makes the module; use `tf.saved_model.load`."""
        super().__init__(attributes)
        self.signatures = signatures
        self.variables = variables
        # The engine follows it to the variables that a step uses.
        self.__wrapped__ = (*variables,)

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that training changes."""
        return [variable for variable in self.variables if variable.trainable]


def _module(artifact: export.Artifact, variables: list[Variable]) -> LoadedModule:
    if CONTAINERS not in artifact.notes:
        raise ExportError(
            "This module was saved by an earlier version of jaxtribute, which described its functions otherwise. Save it "
            "again with this version: tf.saved_model.save(module, path)."
        )
    endpoints = dict(artifact.endpoints)
    leaves: list[tuple[Sequence[Any], Any]] = [
        (path, variables[index]) for path, index in artifact.notes[ATTRIBUTES]
    ]
    texts = artifact.notes.get(TEXTS, {})
    notes = {name: described_names(texts.get(name, {})) for name in endpoints}
    taken: set[str] = set()
    for path, programs in artifact.notes[FUNCTIONS]:
        taken |= {name for name, _ in programs}
        saved = [
            (endpoints[name], Arguments(**arguments), notes[name])
            for name, arguments in programs
            if name in endpoints
        ]
        if saved:
            leaves.append((path, LoadedFunction(".".join(map(str, path)), saved, variables)))
    signatures = {
        name: Signature(one, variables, notes[name])
        for name, one in endpoints.items()
        if name not in taken
    }
    tree: dict[Any, Any] = {}
    for path, leaf in leaves:
        *above, last = path
        place = tree
        for step in above:
            place = place.setdefault(step, {})
        place[last] = leaf
    lengths = {tuple(path): length for path, length in artifact.notes[CONTAINERS]}
    attributes = {name: _restored(value, (name,), lengths) for name, value in tree.items()}
    return LoadedModule(signatures, variables, attributes)


def _restored(
    tree: Any, path: tuple[str | int, ...], lengths: Mapping[tuple[str | int, ...], int | None]
) -> Any:
    """Makes lists, dicts and objects of what was below an attribute; what nothing was saved of is an empty object."""
    if not isinstance(tree, dict):
        return tree
    values = {key: _restored(value, (*path, key), lengths) for key, value in tree.items()}
    if path not in lengths:
        return LoadedObject(values)
    length = lengths[path]
    if length is None:
        return values
    return [values.get(index, LoadedObject({})) for index in range(length)]


def load(
    export_dir: StrPath | bytes, tags: object = None, options: LoadOptions | None = None
) -> LoadedModel | LoadedModule:
    """Loads a model or a module without its code. Blocks until it is read; each process must call it.

    Args:
        export_dir: what `tf.saved_model.save` wrote, on any machine.

    Returns:
        The model, or for a `tf.Module` an object with its variables and functions. In a strategy's scope its variables belong to the strategy.

    Raises:
        FileNotFoundError: there is no such directory.
        ExportError: it is not a saved model of `tf.saved_model.save` (but one of TensorFlow, say), or is damaged.

    Source: `tf.saved_model.load`.
    """
    # An estimator gives the path of its export as bytes.
    artifact = export.load(os.fsdecode(export_dir))
    trainable = artifact.notes.get("trainable", [False] * len(artifact.weights))
    variables = [
        Variable(value, trainable=flag, name=spec.name)
        for value, flag, spec in zip(
            artifact.weights, trainable, artifact.weight_specs, strict=True
        )
    ]
    if FUNCTIONS in artifact.notes:
        return _module(artifact, variables)
    texts = artifact.notes.get(TEXTS, {})
    received = {name: described_names(texts[name]) for name in texts}
    received |= artifact.notes.get(RECEIVED, {})
    functions = {
        name: Signature(endpoint, variables, received.get(name, {}))
        for name, endpoint in artifact.endpoints.items()
    }
    return LoadedModel(functions, variables)


def contains_saved_model(export_dir: StrPath | bytes) -> bool:
    """Tells whether a directory holds a model that `load` can read.

    Source: `tf.saved_model.contains_saved_model`.
    """
    return export.is_artifact(os.fsdecode(export_dir))
