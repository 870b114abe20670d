"""Names of `tf.keras` that Keras 3 dropped and scripts still use, and what to use instead of others."""

import inspect
import types
from typing import Any

import jax
import keras
from keras._tf_keras import keras as api

from frontends.tf import random
from frontends.tf._typing import DTypeLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.keras import (
    _backend_functions,
    _ctc,
    _estimator,
    _export,
    _learning_phase,
    _legacy_optimizers,
)
from frontends.tf.keras._backup import BackupAndRestore
from frontends.tf.keras._dataset_creator import DatasetCreator
from frontends.tf.keras._dense_features import DenseFeatures
from frontends.tf.keras._files import ModelCheckpoint
from frontends.tf.keras._linear_models import LinearModel, WideDeepModel
from frontends.tf.keras._lookup import Hashing, IntegerLookup, StringLookup
from frontends.tf.keras._mean_tensor import MeanTensor
from frontends.tf.keras._selected_entries import of_entries
from frontends.tf.keras._sidecar import SidecarEvaluator
from frontends.tf.keras._tensorboard import TensorBoard
from frontends.tf.keras._text_vectorization import TextVectorization


class Reduction:
    """How a loss reduces losses of examples to one number.

    Source: `tf.keras.losses.Reduction` of Keras 2.
    """

    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    AUTO = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Lists the reductions."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)


class SyncBatchNormalization(keras.layers.BatchNormalization):
    """Batch normalization with the statistics of all replicas' rows.

    Source: `tf.keras.layers.experimental.SyncBatchNormalization`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Makes the layer; the arguments are those of `BatchNormalization`."""
        super().__init__(*args, **{**kwargs, "synchronized": True})


def set_random_seed(seed: int) -> None:
    """Seeds all random numbers: Python's, NumPy's, Keras's and those of `tf.random` and `tf.data`.

    Args:
        seed: from 0 to 2**32 - 1.

    Raises:
        ValueError: `seed` is out of range.

    Examples:
        >>> from frontends import tf
        >>> tf.keras.utils.set_random_seed(1)
        >>> first = list(tf.data.Dataset.range(9).shuffle(9))
        >>> tf.keras.utils.set_random_seed(1)
        >>> first == list(tf.data.Dataset.range(9).shuffle(9))
        True

    Source: `tf.keras.utils.set_random_seed`.
    """
    keras.utils.set_random_seed(seed)
    random.set_seed(seed)


def clear_session(free_memory: bool = True) -> None:
    """Resets the state that Keras keeps, such as counts of names, and frees the memory of compiled programs.

    Differs here: programs of models that are still there go too; such a model compiles again when it is next called.

    Args:
        free_memory: whether to free memory; a loop that makes many small models may leave it out now and then.

    Source: `tf.keras.utils.clear_session`.
    """
    keras.utils.clear_session(free_memory)
    if free_memory:
        jax.clear_caches()


def to_categorical(x: Any, num_classes: int | None = None, dtype: DTypeLike = None) -> Any:
    """Encodes classes as rows with a one, as Keras's own does; takes the type of the elements, as Keras 2.

    Source: `tf.keras.utils.to_categorical`.
    """
    encoded: Any = keras.utils.to_categorical(x, num_classes)
    return encoded if dtype is None else encoded.astype(jax_dtype(dtype))


def _functions(module: types.ModuleType) -> dict[str, Any]:
    """Lists a module's functions by name, and by the names that it has for TensorFlow."""
    former: Any = getattr(api, module.__name__.rpartition(".")[2])
    functions = {**vars(former), **vars(module)}
    return {
        name: value if name in _NOT_OF_TENSORS else of_entries(f"tf.{module.__name__}", value)
        for name, value in functions.items()
        if inspect.isfunction(value) and not name.startswith("_")
    }


_NOT_OF_TENSORS = ("deserialize", "get", "serialize")

# Keras's own versions of them call TensorFlow.
_LOOKUPS = {cls.__name__: cls for cls in (Hashing, IntegerLookup, StringLookup, TextVectorization)}

NAMES: dict[str, dict[str, Any]] = {
    **_export.NAMES,
    "": {**_export.NAMES.get("", {}), "estimator": _estimator},
    "backend": {
        **_backend_functions.TABLE,
        **_ctc.TABLE,
        "clear_session": clear_session,
        "function": _learning_phase.function,
        "learning_phase": _learning_phase.learning_phase,
        "set_learning_phase": _learning_phase.set_learning_phase,
    },
    "callbacks": {cls.__name__: cls for cls in (BackupAndRestore, ModelCheckpoint, TensorBoard)},
    "callbacks.experimental": {"BackupAndRestore": BackupAndRestore},
    # Keras's old version of it calls TensorFlow.
    "layers": {
        "AbstractRNNCell": _learning_phase.AbstractRNNCell,
        "AlphaDropout": keras.layers.AlphaDropout,
        "DenseFeatures": DenseFeatures,
        **_LOOKUPS,
    },
    "layers.experimental": {"SyncBatchNormalization": SyncBatchNormalization, **_LOOKUPS},
    "layers.experimental.preprocessing": _LOOKUPS,
    "losses": _functions(keras.losses) | {"Reduction": Reduction},
    "metrics": _functions(keras.metrics) | {"MeanTensor": MeanTensor},
    "mixed_precision.experimental": {"set_policy": keras.mixed_precision.set_global_policy},
    "optimizers.legacy": _legacy_optimizers.TABLE,
    "experimental": {
        **_export.NAMES["experimental"],
        "LinearModel": LinearModel,
        "SidecarEvaluator": SidecarEvaluator,
        "WideDeepModel": WideDeepModel,
    },
    "utils": {
        "clear_session": clear_session,
        "set_random_seed": set_random_seed,
        "SidecarEvaluator": SidecarEvaluator,
        "to_categorical": to_categorical,
    },
    "utils.experimental": {"DatasetCreator": DatasetCreator},
}

# Modules that Keras has, but not among its names for TensorFlow.
MODULES = {"saving": keras.saving}

# Modules that Keras 3 dropped, and where their names are now.
SAME_AS = {
    "callbacks.experimental": "callbacks",
    "experimental": "optimizers.schedules",
    "layers.experimental": "layers",
    "layers.experimental.preprocessing": "layers",
    "mixed_precision.experimental": "mixed_precision",
    "optimizers.experimental": "optimizers",
    "utils.experimental": "utils",
}

HINTS = {
    "tf.keras.backend.conv2d_transpose": "Use tf.keras.layers.Conv2DTranspose",
    "tf.keras.backend.get_session": "There are no sessions: call functions, and x.numpy()",
    "tf.keras.backend.gradients": "Use tf.GradientTape",
    "tf.keras.backend.in_train_phase": "Use the argument training of a layer's call",
    "tf.keras.backend.placeholder": "Use tf.keras.Input",
    "tf.keras.backend.print_tensor": "Use tf.print",
    "tf.keras.backend.rnn": "Use tf.keras.layers.RNN with a cell",
    "tf.keras.backend.set_session": "There are no sessions: call functions, and x.numpy()",
    "tf.keras.layers.CuDNNGRU": "Use tf.keras.layers.GRU",
    "tf.keras.layers.CuDNNLSTM": "Use tf.keras.layers.LSTM",
    "tf.keras.layers.LocallyConnected1D": "Write it as a layer over keras.ops",
    "tf.keras.layers.LocallyConnected2D": "Write it as a layer over keras.ops",
    "tf.keras.mixed_precision.get_layer_policy": "Use layer.dtype_policy",
    "tf.keras.models.model_from_yaml": "Use to_json and model_from_json",
    "tf.keras.utils.multi_gpu_model": "Use tf.distribute.MirroredStrategy",
    "tf.keras.wrappers.scikit_learn": "Use keras.wrappers, or the package scikeras",
}
