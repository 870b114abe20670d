"""What a `serving_input_receiver_fn` returns: what a signature takes, and the features that a model function gets of it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from frontends.tf.compat.v1.placeholders import placeholder
from frontends.tf.dtypes import as_dtype
from frontends.tf.io.features import Features
from frontends.tf.io.parsing import parse_example
from frontends.tf.tensor_shape import TensorShape


class _Fields(NamedTuple):
    features: Any
    receiver_tensors: Mapping[str, Any]
    receiver_tensors_alternatives: Mapping[str, Mapping[str, Any]] | None


class ServingInputReceiver(_Fields):
    """Features by name, and the placeholders that they are computed from.

    Source: `tf.estimator.export.ServingInputReceiver`.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> "ServingInputReceiver":
        """Checks the parts.

        Args:
            features: what the model function gets: a dict of tensors; a tensor is named `feature`.
            receiver_tensors: what a signature takes: placeholders by name; one alone is named `input`.
            receiver_tensors_alternatives: for more signatures, likewise, by a word before their names.

        Raises:
            ValueError: a part is missing, or of another kind.
        """
        features = _named(features, "feature", "feature", allow_numbers=True)
        receiver = _named(receiver_tensors, "input", "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, Mapping):
                raise ValueError(
                    f"receiver_tensors_alternatives must be a dict: {receiver_tensors_alternatives}."
                )
            receiver_tensors_alternatives = {
                key: _named(one, "input", "receiver_tensors_alternative")
                for key, one in receiver_tensors_alternatives.items()
            }
        return super().__new__(cls, features, receiver, receiver_tensors_alternatives)


class TensorServingInputReceiver(_Fields):
    """One tensor of features, for a model function that takes no dict; see `ServingInputReceiver`.

    Source: `tf.estimator.export.TensorServingInputReceiver`.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> "TensorServingInputReceiver":
        """Checks the parts; see `ServingInputReceiver`.

        Raises:
            ValueError: a part is missing, or of another kind.
        """
        if features is None:
            raise ValueError("features must be defined.")
        if not _is_tensor(features):
            raise ValueError("feature must be a Tensor, SparseTensor, or RaggedTensor.")
        made = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls, features, made.receiver_tensors, made.receiver_tensors_alternatives
        )


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a `serving_input_receiver_fn` that takes the features as they are.

    Args:
        features: tensors, or what else has a shape and a dtype, by name; the number of rows does not matter.
        default_batch_size: how many rows there are; None leaves it open.

    Source: `tf.estimator.export.build_raw_serving_input_receiver_fn`.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        made = {
            name: placeholder(
                as_dtype(tensor.dtype), [default_batch_size, *TensorShape(tensor.shape)[1:]]
            )
            for name, tensor in features.items()
        }
        return ServingInputReceiver(made, made)

    return serving_input_receiver_fn


def build_parsing_serving_input_receiver_fn(
    feature_spec: Features, default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a `serving_input_receiver_fn` that takes serialized examples, under the name `examples`.

    What differs here: whoever loads the export reads them on the host, and gives the program their values.

    Args:
        feature_spec: what to read, by key.
        default_batch_size: how many examples there are; None leaves it open.

    Source: `tf.estimator.export.build_parsing_serving_input_receiver_fn`.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = placeholder("string", [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _named(tensors: Any, default: str, label: str, allow_numbers: bool = False) -> dict[Any, Any]:
    if tensors is None:
        raise ValueError(f"{label}s must be defined.")
    found = tensors if isinstance(tensors, Mapping) else {default: tensors}
    for name, tensor in found.items():
        if not isinstance(name, str) and not (allow_numbers and isinstance(name, int)):
            allowed = "strings or ints" if allow_numbers else "strings"
            raise ValueError(f"{label} keys must be {allowed}: {name}.")
        if not _is_tensor(tensor):
            raise ValueError(f"{label} {name} must be a Tensor, SparseTensor, or RaggedTensor.")
    return dict(found)
