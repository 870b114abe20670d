"""Names that exist, and errors for those that do not."""

import importlib
import logging
import operator
import traceback

import pytest
from packaging.version import Version

from frontends import tf
from frontends.tf import _names, _table, feature_column

MODULES = {
    "tf": tf,
    "tf.math": tf.math,
    "tf.nn": tf.nn,
    "tf.linalg": tf.linalg,
    "tf.image": tf.image,
    "tf.dtypes": tf.dtypes,
    "tf.debugging": tf.debugging,
    "tf.summary": tf.summary,
    "tf.train": tf.train,
    "tf.compat.v1": tf.compat.v1,
    "tf.bitwise": tf.bitwise,
    "tf.random": tf.random,
    "tf.experimental": tf.experimental,
    "tf.experimental.numpy.random": tf.experimental.numpy.random,
    "tf.contrib": tf.contrib,
    "tf.contrib.layers": tf.contrib.layers,
    "tf.feature_column": feature_column,
}


@pytest.mark.parametrize("name", MODULES)
def test_dir_lists_what_there_is(name):
    module = MODULES[name]
    assert dir(module)
    for each in dir(module):
        assert each in _table.LAZY or hasattr(module, each)
    functions = [getattr(module, each) for each in dir(module) if each not in _table.LAZY]
    # TensorBoard's protocol buffers have a descriptor, and no docstring.
    ours = [each for each in functions if callable(each) and not hasattr(each, "DESCRIPTOR")]
    assert all(function.__doc__ for function in ours)
    assert not hasattr(module, "foo")
    with pytest.raises(AttributeError, match=rf"{name}\.foo is not part of jaxtribute\. .*issue"):
        module.foo  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (tf.distribute.experimental, "rpc"),
    ],
)
def test_planned_names_say_so(module, name):
    with pytest.raises(AttributeError, match="is planned, with support for clusters"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [
        ("tf", "kron", "use jnp.kron"),
        ("tf", "log_softmax", "use jax.nn.log_softmax"),
        ("tf", "import_graph_def", r"tf\.saved_model\.save writes a program"),
        ("tf.compat.v1", "wrap_function", r"tf\.saved_model\.save writes a program"),
        ("tf", "RegisterGradient", r"use @tf\.custom_gradient"),
        ("tf", "resource", "pass the object itself"),
        ("tf.experimental", "tensorrt", "XLA compiles the program"),
        ("tf.data.experimental", "service", "auto_shard_policy"),
        ("tf", "fori_loop", "use jax.lax.fori_loop"),
        ("tf.math", "gammaln", "use jax.scipy.special.gammaln"),
        ("tf.linalg", "matrix_power", "use jnp.linalg.matrix_power"),
        ("tf.nn", "ctc_decode", "use keras.ops.ctc_decode"),
        ("tf", "reduce_men", r"Did you mean tf\.reduce_mean\?"),
        ("tf.math", "reduce_men", r"Did you mean tf\.math\.reduce_mean\?"),
        ("tf", "Session", r"tf\.estimator\.Estimator"),
        ("tf.compat.v1", "Session", r"tf\.estimator\.Estimator"),
        ("tf.summary", "graph", "jax.jit"),
        ("tf.contrib.learn", "Estimator", "whose estimators tf.contrib.learn.Experiment takes"),
        ("tf.contrib.layers", "instance_norm", "layer_norm"),
        ("tf.train", "SyncReplicasOptimizer", "MultiWorkerMirroredStrategy"),
        ("tf.compat.v1.train", "replica_device_setter", "ParameterServerStrategy"),
        ("tf", "examples", r"tf\.keras\.datasets\.mnist\.load_data\(\)"),
        ("tf.contrib", "image", r"keras\.ops\.image\.affine_transform"),
        ("tf.contrib.opt", "MovingAverageOptimizer", r"tf\.train\.ExponentialMovingAverage"),
        ("tf.contrib", "quantize", "fake_quant_with_min_max_vars"),
        ("tf.contrib", "boosted_trees", "XGBoost"),
        ("tf", "lite", "TFLiteConverter"),
        ("tf.feature_column", "sequence_numeric_column", "pad the sequences"),
        ("tf.train.experimental", "ShardByTaskPolicy", "experimental_sharding_callback"),
        ("tf", "no_such_name_at_all", "Open an issue"),
    ],
)
def test_an_unknown_name_says_what_to_use(module, name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(_module(module), name)


def _module(name):
    return MODULES.get(name) or operator.attrgetter(name.removeprefix("tf."))(tf)


@pytest.mark.parametrize(
    "name", ["reduce_summ", "distribute.MirorredStrategy", "keras.layers.Dens"]
)
def test_a_misspelled_name_gets_one_suggestion(name):
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(name)(tf)
    assert "".join(traceback.format_exception(caught.value)).count("Did you mean") == 1


def test_hints_are_for_names_that_do_not_exist():
    for name in _names._HINTS:
        prefix, _, last = name.rpartition(".")
        assert last in _table.LAZY or last not in dir(_module(prefix)), name


def test_importing_an_unknown_name():
    with pytest.raises(ImportError, match="foo"):
        from frontends.tf.math import foo  # noqa: F401
    from frontends.tf.math import reduce_std

    assert reduce_std is tf.math.reduce_std


def test_version():
    assert int(tf.__version__.split(".")[0]) >= 2
    assert Version(tf.__version__) >= Version("2.21")
    assert "jaxtribute" in tf.__git_version__
    assert tf.__version__ == tf.version.VERSION


def test_logging():
    level = tf.get_logger().level
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    assert tf.get_logger() is logging.getLogger("tensorflow")
    assert tf.get_logger().level == tf.compat.v1.logging.get_verbosity() == logging.ERROR
    tf.get_logger().setLevel(level)
    tf.autograph.set_verbosity(0)
    tf.compat.v1.enable_v2_behavior()
    tf.compat.v1.enable_eager_execution()


def test_tf1_has_all_names_of_tf_and_tf_has_those_of_tf1_that_scripts_use():
    assert tf.compat.v1.matmul is tf.matmul
    assert tf.compat.v1.estimator.RunConfig is tf.estimator.RunConfig
    for name, where in _table.BORROWED.items():
        module, _, path = where.partition(":")
        expected = operator.attrgetter(path or name)(importlib.import_module(module))
        assert getattr(tf, name) is expected
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.nothing is not part"):
        _ = tf.compat.v1.nothing
