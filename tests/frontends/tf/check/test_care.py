"""What needs care is found, and nothing else."""

import textwrap

import pytest

from frontends.tf.check.care import findings_in
from frontends.tf.check.findings import Kind
from frontends.tf.check.uses import uses_in
from frontends.tf.check.versions import uses_in_its_version


def found(text):
    return [(one.line, one.name) for one in findings_in(uses_in(textwrap.dedent(text)))]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import tensorflow_addons as tfa", "tensorflow_addons"),
        ("from tensorflow_hub import KerasLayer", "tensorflow_hub"),
        ("import horovod.tensorflow.keras as hvd", "horovod"),
        ("os.environ['TF_XLA_FLAGS'] = 'x'", "TF_XLA_FLAGS"),
        ("os.environ.setdefault('TF_DETERMINISTIC_OPS', '1')", "TF_DETERMINISTIC_OPS"),
        ("os.putenv('TF_USE_LEGACY_KERAS', '1')", "TF_USE_LEGACY_KERAS"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'", "CUDA_VISIBLE_DEVICES"),
        ("os.environ['KERAS_BACKEND'] = 'torch'", "KERAS_BACKEND"),
    ],
)
def test_lines_that_need_care(line, name):
    assert found(line) == [(1, name)]


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow_datasets as tfds",
        "import horovod.torch as hvd",
        "import tensorflow_probability.substrates.jax as tfp",
        "from tensorflow_probability.substrates import jax as tfp",
        "os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'",
        "os.environ['KERAS_BACKEND'] = 'jax'",
        "os.environ['KERAS_BACKEND'] = 'tensorflow'",
        "os.environ['TF_CONFIG'] = x",
        "import keras",
        "print(1)",
    ],
)
def test_lines_that_need_none(line):
    assert found(line) == []


@pytest.mark.parametrize(
    "text",
    [
        "if x:\n    import keras\nimport tensorflow as tf",
        "import keras, tensorflow as tf",
        "from keras import layers; import tensorflow as tf",
    ],
)
def test_keras_before_tf_where_fix_leaves_it(text):
    assert [name for _, name in found(text)] == ["import keras"]


def test_keras_after_tf_or_where_fix_changes_it():
    assert found("import tensorflow as tf\nimport keras") == []
    assert found("import keras\nimport tensorflow as tf") == []


def test_devices():
    text = """
    import tensorflow as tf
    tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    tf.distribute.MirroredStrategy(devices=devices)
    tf.distribute.MirroredStrategy()
    with tf.device("/gpu:0"):
        pass
    """
    assert found(text) == [(3, "tf.distribute.MirroredStrategy"), (6, "tf.device")]


def test_effects_in_functions_that_a_strategy_traces():
    text = """
    import tensorflow as tf
    strategy = tf.distribute.MirroredStrategy()
    def step(x):
        print(x)
        return x.numpy()
    def loop():
        strategy.run(step, args=(1,))
    """
    assert found(text) == [(5, "print"), (6, ".numpy()")]
    # TensorFlow traces this one, too.
    assert found(text.replace("    def loop", "    @tf.function\n    def loop")) == []
    assert found(text.replace("strategy.run", "other.run")) == []


def test_placeholders_are_for_what_is_served():
    text = "import tensorflow as tf\nx = tf.placeholder(tf.float32)"
    (finding,) = findings_in(uses_in(text))
    assert (finding.kind, finding.line, finding.name) == (Kind.MISSING, 2, "tf.placeholder")
    assert "a model function, which gets features and labels" in finding.text
    serves = f"{text}\ntf.estimator.export.ServingInputReceiver(x, x)"
    assert not list(findings_in(uses_in(serves)))


@pytest.mark.parametrize(
    ("because", "means", "otherwise"),
    [
        ("", "TensorFlow 2's, which drops 0.9", "rate=1 - 0.9"),
        ("train.py imports it", "TensorFlow 1's, which keeps 0.9", "rate=0.9"),
    ],
)
def test_dropout_in_a_file_that_does_not_tell_its_version(because, means, otherwise):
    text = "import tensorflow as tf\ntf.nn.dropout(x, 0.9)"
    (finding,) = findings_in(uses_in_its_version(text, because))
    assert (finding.kind, finding.line) == (Kind.CARE, 2)
    assert f"read as {means}" in finding.text
    assert f"write {otherwise}" in finding.text


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.nn.dropout(x, 0.5)",  # the same in both
        "import tensorflow as tf\ntf.nn.dropout(x, rate=0.9)",
        "import tensorflow as tf\ntf.nn.dropout(*arguments)",
        "import tensorflow as tf\ntf.nn.dropout(x, 0.9)\ntf.layers.dense(x, 1)",
        "import tensorflow as tf\ntf.nn.dropout(x, 0.9)\ntf.metrics.Mean()",
        "import tensorflow.compat.v1 as tf\ntf.nn.dropout(x, 0.9)",
        "from frontends import tf\ntf.nn.dropout(x, 0.9)",
    ],
)
def test_dropout_that_is_clear(text):
    assert not list(findings_in(uses_in_its_version(text)))
