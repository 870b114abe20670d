"""`tf.saved_model.load`: models that predict without their code, by the program that was saved."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.saved_model.options import LoadOptions
from frontends.tf.variable import Variable
from spmd import export
from spmd.typing import StrPath


class Signature:
    """A function of a loaded model, with inputs and outputs by name.

    Attributes:
        inputs: names, shapes and dtypes; None is a size that the caller chooses.
        outputs: likewise.

    Source: `tf.types.experimental.ConcreteFunction`.
    """

    def __init__(self, endpoint: export.LoadedEndpoint, variables: list[Variable]) -> None:
        """Makes the function; compiles nothing yet."""
        self.inputs: Sequence[export.ArraySpec] = endpoint.inputs
        self.outputs: Sequence[export.ArraySpec] = endpoint.outputs
        # The engine follows `__wrapped__` when it looks for the variables that a step uses.
        self.__wrapped__ = functools.partial(_run, endpoint, variables)

    def __call__(self, *args: TensorLike, **kwargs: TensorLike) -> dict[str, jax.Array]:
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
        outputs = self.__wrapped__([kwargs[name] for name in names])
        return {
            spec.name: leaf
            for spec, leaf in zip(self.outputs, jax.tree.leaves(outputs), strict=True)
        }


def _run(
    endpoint: export.LoadedEndpoint, variables: list[Variable], inputs: Sequence[TensorLike]
) -> Any:
    arrays = [_checked(spec, value) for spec, value in zip(endpoint.inputs, inputs, strict=True)]
    outputs, changed = endpoint([variable.value() for variable in variables], arrays)
    for index, value in changed.items():
        variables[index].assign(value)
    return outputs


class LoadedModel:
    """A model without its code. It only predicts; to train it on, use `tf.keras.models.load_model`.

    Attributes:
        signatures: the functions by name; a Keras model has `serving_default`.
        variables: the weights.

    Source: what `tf.saved_model.load` returns.
    """

    def __init__(self, signatures: Mapping[str, Signature], variables: list[Variable]) -> None:
        """Makes the model; use `tf.saved_model.load`."""
        self.signatures = signatures
        self.variables = variables
        self.__wrapped__ = tuple(signatures.values())

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
        signature = self.signatures.get("serving_default")
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


def load(
    export_dir: StrPath, tags: object = None, options: LoadOptions | None = None
) -> LoadedModel:
    """Loads a model without its code. Blocks until it is read; each process must call it.

    Args:
        export_dir: what `tf.saved_model.save` wrote, on any machine.

    Returns:
        The model. In a strategy's scope its variables belong to the strategy.

    Raises:
        FileNotFoundError: there is no such directory.
        ExportError: it is not a saved model of `tf.saved_model.save` (but one of TensorFlow, say), or is damaged.

    Source: `tf.saved_model.load`.
    """
    artifact = export.load(export_dir)
    trainable = artifact.notes.get("trainable", [False] * len(artifact.weights))
    variables = [
        Variable(value, trainable=flag, name=spec.name)
        for value, flag, spec in zip(
            artifact.weights, trainable, artifact.weight_specs, strict=True
        )
    ]
    signatures = {
        name: Signature(endpoint, variables) for name, endpoint in artifact.endpoints.items()
    }
    return LoadedModel(signatures, variables)


def contains_saved_model(export_dir: StrPath) -> bool:
    """Tells whether a directory holds a model that `load` can read.

    Source: `tf.saved_model.contains_saved_model`.
    """
    return export.is_artifact(export_dir)


def _checked(spec: export.ArraySpec, value: TensorLike) -> jax.Array:
    array = convert_to_tensor(value)
    if array.dtype.name != spec.dtype:
        raise TypeError(
            f"The input {spec} got elements of the type {array.dtype.name}. Convert it: "
            f"tf.cast({spec.name}, tf.{spec.dtype})."
        )
    fits = array.ndim == len(spec.shape) and all(
        size in (None, found) for size, found in zip(spec.shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The input {spec} got an array of shape {array.shape}. Reshape it, or save the model with "
            "inputs of this shape."
        )
    return array
