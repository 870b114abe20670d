"""Names of a module that are listed in a table, and errors for names that do not exist.

A *table* is a dict from TensorFlow's name to the function. `attributes` makes of it the functions
`__getattr__` and `__dir__` of a module.
"""

import contextlib
import difflib
import importlib
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

import jax.nn
import jax.numpy
import jax.scipy.linalg
import jax.scipy.special

from spmd.step import held_back

# Where JAX may have a name, in the order of what to recommend.
_JAX = {
    "jnp": jax.numpy,
    "jax.nn": jax.nn,
    "jax.lax": jax.lax,
    "jnp.linalg": jax.numpy.linalg,
    "jax.scipy.special": jax.scipy.special,
    "jax.scipy.linalg": jax.scipy.linalg,
    "jax.image": jax.image,
}

# What only Keras has (keras.ops), by name, because looking would import Keras.
_KERAS_OPS = frozenset(
    {
        *("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
        *("ctc_loss", "ctc_decode", "depthwise_conv", "separable_conv", "extract_sequences"),
        *("stft", "istft", "rfft", "irfft", "multi_hot", "scatter", "scatter_update"),
        *("normalize", "psnr"),
    }
)

# Planned, with support for clusters: docs/compat.md lists them as "not yet".
PLANNED = frozenset(
    {
        "tf.distribute.experimental.rpc",
    }
)

_TF1 = "It belongs to TensorFlow 1"

# What to do instead, where the name alone finds nothing, or the wrong thing.
_HINTS = {
    "tf.disable_tensor_equality": "`==` compares the elements of tensors here; write `x is y` where objects are meant, and "
    "x.ref() for a key of a dict.",
    **dict.fromkeys(
        (
            *("tf.Session", "tf.InteractiveSession", "tf.get_default_session"),
            *("tf.train.MonitoredTrainingSession", "tf.train.MonitoredSession"),
            *("tf.train.SingularMonitoredSession", "tf.train.Supervisor"),
        ),
        f"{_TF1}, and there are no sessions here. Make a model function of the graph, and train a tf.estimator.Estimator; or call "
        "a function where sess.run runs a part of the graph: @tf.function compiles it.",
    ),
    **dict.fromkeys(
        (
            *(
                f"tf.train.{name}"
                for name in ("batch", "shuffle_batch", "batch_join", "shuffle_batch_join")
            ),
            *("tf.train.string_input_producer", "tf.train.slice_input_producer"),
            *("tf.train.input_producer", "tf.train.range_input_producer", "tf.train.QueueRunner"),
            *("tf.train.start_queue_runners", "tf.train.add_queue_runner", "tf.FIFOQueue"),
            *("tf.RandomShuffleQueue", "tf.TFRecordReader", "tf.TextLineReader"),
            *("tf.FixedLengthRecordReader", "tf.WholeFileReader"),
        ),
        f"{_TF1}, whose input queues do not exist here. Have input_fn return a dataset: "
        "tf.data.TFRecordDataset(files).map(parse).shuffle(1000).repeat().batch(32).",
    ),
    "tf.Graph": f"{_TF1}: @tf.function makes programs, and an estimator makes one of its model function. Leave the graph out.",
    **dict.fromkeys(
        ("tf.import_graph_def", "tf.graph_util", "tf.io.write_graph", "tf.wrap_function"),
        "There are no graphs of TensorFlow here: tf.saved_model.save writes a program, which tf.saved_model.load runs, and "
        'model.export(path, format="tf_saved_model") a SavedModel',
    ),
    **dict.fromkeys(
        (
            f"tf.train.experimental.{name}"
            for name in (
                "MaxShardSizePolicy",
                "ShardByTaskPolicy",
                "ShardableTensor",
                "ShardingCallback",
            )
        ),
        "Checkpoints are divided into files by Orbax: leave experimental_sharding_callback out of tf.train.CheckpointOptions",
    ),
    "tf.RegisterGradient": "Gradients belong to functions, not to operations of a graph: use @tf.custom_gradient",
    "tf.resource": "Variables and tables are objects of Python, not tensors of a dtype for handles: pass the object itself",
    "tf.variant": "Datasets and optional values are objects of Python, not tensors of a dtype for handles: pass the object itself",
    "tf.experimental.tensorrt": "TensorRT converts TensorFlow's graphs: on a GPU, XLA compiles the program that "
    "tf.saved_model.save writes",
    "tf.experimental.dtensor": "Say how arrays lie on devices with jax.sharding.NamedSharding, or with keras.distribution",
    "tf.data.experimental.service": "Every process reads its part of the input: strategy.experimental_distribute_dataset and "
    "DistributeOptions.auto_shard_policy say which",
    "tf.queue": f"{_TF1}: read with tf.data.Dataset, and hand objects on with Python's queue",
    **dict.fromkeys(
        (
            f"tf.tpu.experimental.embedding.{name}"
            for name in (
                *("CustomCombiner", "CustomOptimizer", "SparseCoreEmbeddingConfig"),
                *("TPUEmbedding", "TPUEmbeddingV0", "TPUEmbeddingV2"),
            )
        ),
        "Tables in host memory and the SparseCores of a TPU cannot be reached from JAX programs. Use a layer, whose table lies in "
        "the devices' memory: tf.keras.layers.Embedding(vocabulary_size, dimension), with the optimizer of the model; or "
        "TPUEmbeddingForServing, outside of a TPUStrategy",
    ),
    "tf.quantization": "There are no types of quantized numbers. Use keras.Model.quantize, or tf.quantization.fake_quant_with_min_max_vars",
    "tf.load_op_library": "Operations in C++ are TensorFlow's: write the function in JAX, or register it with jax.ffi",
    "tf.contrib.layers.instance_norm": f"{_TF1}: use tf.contrib.layers.layer_norm, or keras.layers.GroupNormalization(groups=-1)",
    **dict.fromkeys(
        (
            *(f"tf.contrib.learn.{kind}" for kind in ("Estimator", "ModelFnOps", "MetricSpec")),
            *(f"tf.contrib.learn.DNN{kind}" for kind in ("Classifier", "Regressor")),
            *(f"tf.contrib.learn.Linear{kind}" for kind in ("Classifier", "Regressor")),
            "tf.contrib.learn.DNNLinearCombinedClassifier",
        ),
        f"{_TF1}: use tf.estimator, whose estimators tf.contrib.learn.Experiment takes",
    ),
    "tf.contrib.learn.datasets": "Read data with tf.keras.datasets, or make a tf.data.Dataset",
    "tf.contrib.seq2seq": f"{_TF1}: decode with tf.while_loop and a cell of tf.nn.rnn_cell; attention is tf.nn.softmax of scores",
    **dict.fromkeys(
        (
            "tf.estimator.experimental.LinearSDCA",
            "tf.contrib.linear_optimizer",
            "tf.train.SDCAOptimizer",
        ),
        "There is no dual coordinate ascent. Train by Ftrl, with the same penalties: tf.estimator.LinearClassifier(columns, "
        "optimizer=lambda: tf.keras.optimizers.Ftrl(l1_regularization_strength=0.1, l2_regularization_strength=0.1))",
    ),
    **dict.fromkeys(
        (
            *(
                f"tf.estimator.BoostedTrees{kind}"
                for kind in ("Classifier", "Regressor", "Estimator")
            ),
            *(
                f"tf.estimator.experimental.{kind}"
                for kind in ("RNNClassifier", "RNNEstimator", "KMeans")
            ),
        ),
        "Estimators of trees, recurrent networks and clusters are not there. Write a model function, with "
        "tf.compat.v1.nn.dynamic_rnn for a recurrent network; trees belong to XGBoost or LightGBM, clusters to scikit-learn",
    ),
    "tf.contrib.metrics": f"{_TF1}: use tf.metrics",
    "tf.contrib.metrics.streaming_concat": "Arrays in a program have fixed sizes: collect rows with estimator.predict instead",
    "tf.contrib.estimator.SavedModelEstimator": "Go on from a checkpoint: tf.estimator.Estimator(model_fn, warm_start_from=folder)",
    "tf.contrib.losses": f"{_TF1}: use tf.losses",
    **dict.fromkeys(
        (
            *(f"tf.contrib.eager.{kind}_function" for kind in ("gradients", "value_and_gradients")),
            *(f"tf.contrib.eager.implicit_{kind}" for kind in ("gradients", "value_and_gradients")),
        ),
        f"{_TF1}: use tf.GradientTape",
    ),
    "tf.train.SyncReplicasOptimizer": f"{_TF1}: strategies sum the gradients of all workers in every step. Make the optimizer alone, in the scope "
    "of tf.distribute.MultiWorkerMirroredStrategy(), or give an estimator that as RunConfig(train_distribute=...)",
    "tf.train.replica_device_setter": f"{_TF1}: a strategy places variables on parameter servers. Make them in the scope of "
    "tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())",
    "tf.examples": "TensorFlow's tutorials are no part of it. MNIST is (images, labels), test = tf.keras.datasets.mnist.load_data(): for the "
    "floats that input_data gave write images.reshape(-1, 784) / 255, for one_hot=True tf.one_hot(labels, 10).",
    "tf.contrib.image": f"{_TF1}: use keras.ops.image.affine_transform(images, [[a0, a1, a2, b0, b1, b2, c0, c1]]), which takes the "
    "numbers of tf.contrib.image.transform: [[cos, -sin, 0, sin, cos, 0, 0, 0]] rotates about the upper left corner. "
    "keras.layers.RandomRotation rotates by chance",
    "tf.contrib.opt.MovingAverageOptimizer": f"{_TF1}: keep averages beside the optimizer. After each of its steps call averages.apply(variables) "
    "of averages = tf.train.ExponentialMovingAverage(0.999), and save with tf.train.Saver(averages.variables_to_restore())",
    "tf.contrib.quantize": f"{_TF1}, and rewrote its graph. In the layers themselves, pass weights and activations through "
    'tf.quantization.fake_quant_with_min_max_vars; or quantize what is trained: keras.Model.quantize("int8")',
    "tf.contrib.boosted_trees": f"{_TF1}: train trees with XGBoost or LightGBM",
    "tf.contrib.cudnn_rnn": f"{_TF1}: use tf.nn.rnn_cell and tf.nn.dynamic_rnn",
    "tf.contrib.cloud": "Paths such as gs://bucket/folder need no configuration: leave it out",
    "tf.contrib.gan": f"{_TF1}: minimize both losses in one model function, each with its var_list",
    "tf.lite": 'jaxtribute trains and exports: model.export(path, format="tf_saved_model") writes what '
    "tf.lite.TFLiteConverter.from_saved_model of an installed TensorFlow converts",
    "tf.io": "Use Python's open and pathlib, or tf.io.gfile",
    "tf.summary.graph": "XLA's programs are none of TensorFlow's graphs: use jax.jit(f).lower(x).as_text()",
    "tf.profiler": "Use jax.profiler",
    "tf.xla": "Every @tf.function is compiled by XLA already",
    "tf.sparse": "Use dense arrays: tf.sparse.to_dense, in a map of the dataset",
    **dict.fromkeys(
        (
            "tf.feature_column.sequence_numeric_column",
            *(
                f"tf.feature_column.sequence_categorical_column_with_{kind}"
                for kind in ("hash_bucket", "identity", "vocabulary_file", "vocabulary_list")
            ),
        ),
        "Columns of sequences are for sparse tensors, which XLA has not: pad the sequences, and use keras.layers.Embedding and "
        "Masking",
    ),
    "tf.signal": "Use jax.numpy.fft and jax.scipy.signal",
}


def attributes(
    module: str,
    table: Mapping[str, Any],
    lazy: Mapping[str, str] | None = None,
    present: Iterable[str] = (),
    borrowed: Mapping[str, str] | None = None,
    rest: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes the functions `__getattr__` and `__dir__` of a module.

    Args:
        module: TensorFlow's name of the module, such as `"tf.math"`.
        table: the names that the module has.
        lazy: names of submodules, and the Python modules to import when they are first looked up.
        present: names that the module has by itself.
        borrowed: names of other modules that it has too, and these Python modules; with a colon and a path, if
            the name is another there.
        rest: a Python module, all of whose other names it has.

    Returns:
        `__getattr__`, which raises AttributeError for unknown names, and `__dir__`.
    """
    submodules, others = lazy or {}, borrowed or {}
    existing = [*present, *table, *submodules, *others]

    def getattr_(name: str) -> Any:
        if name in table:
            return table[name]
        if name in submodules:
            with held_back():  # importing Keras takes a third less
                return importlib.import_module(submodules[name])
        if name in others:
            owner, _, path = others[name].partition(":")
            return operator.attrgetter(path or name)(importlib.import_module(owner))
        if name.startswith("__"):
            raise AttributeError(f"module {module} has no attribute {name}")
        if rest is not None:
            with contextlib.suppress(AttributeError):
                return getattr(importlib.import_module(rest), name)
        raise explained_error(name, unknown_name(module, name, existing))

    return getattr_, lambda: sorted(set(existing))


def defined_in(module: str) -> dict[str, Any]:
    """Makes the table of a module whose public functions and classes are TensorFlow's.

    Args:
        module: its name; `range_` in it is TensorFlow's `range`, which would hide Python's.
    """
    return {
        name.removesuffix("_"): value
        for name, value in vars(sys.modules[module]).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    }


def exported_by(face: str) -> dict[str, Any]:
    """Makes the table of a face: a package that imports what it exports, and besides that only modules."""
    return {
        name: value
        for name, value in vars(sys.modules[face]).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }


def explained_error(name: str, text: str) -> AttributeError:
    """Makes the error for a name that does not exist, to which Python adds no suggestion of its own.

    Python completes an AttributeError that says of no object, and then asks "Did you mean" once more.
    """
    return AttributeError(text, name=name, obj=None)


def unknown_name(module: str, name: str, existing: Iterable[str]) -> str:
    """Says what to use instead of a name that does not exist.

    Args:
        module: TensorFlow's name of the module, such as `"tf.math"`.
        name: the name that was looked up in it.
        existing: the names that the module has.

    Returns:
        The message of the error.

    Examples:
        >>> unknown_name("tf.math", "kron", [])
        'tf.math.kron is not part of jaxtribute. JAX has it: use jnp.kron, or open an issue.'
    """
    full = f"{module}.{name}"
    if full in PLANNED:
        return (
            f"{full} is planned, with support for clusters, and does not exist yet. On one machine use "
            "tf.distribute.MirroredStrategy(), which takes GPUs and TPUs."
        )
    hint = (
        _HINTS.get(full.replace("tf.compat.v1.", "tf.")) or _HINTS.get(module) or _elsewhere(name)
    )
    close = difflib.get_close_matches(name, existing, n=1, cutoff=0.75)
    text = f"{full} is not part of jaxtribute."
    if hint:
        return f"{text} {hint}" if hint.endswith(".") else f"{text} {hint}, or open an issue."
    if close:
        return f"{text} Did you mean {module}.{close[0]}? If not, open an issue."
    return f"{text} Open an issue if you need it."


def unknown_keras_name(
    module: str, name: str, existing: Iterable[str], hints: Mapping[str, str]
) -> str:
    """Says what to use instead of a name that `tf.keras` does not have.

    Args:
        module: TensorFlow's name of the module, such as `"tf.keras.layers"`.
        name: the name that was looked up in it.
        existing: the names that the module has.
        hints: what to do instead of a name that Keras 3 does not have, by its full name.

    Returns:
        The message of the error.
    """
    full = f"{module}.{name}"
    if full in hints:
        return f"{full} is not part of Keras 3. {hints[full]}."
    return unknown_name(module, name, existing)


def _elsewhere(name: str) -> str | None:
    for where, namespace in _JAX.items():
        if name in dir(namespace) and callable(getattr(namespace, name)):
            return f"JAX has it: use {where}.{name}"
    return f"Keras has it: use keras.ops.{name}" if name in _KERAS_OPS else None
