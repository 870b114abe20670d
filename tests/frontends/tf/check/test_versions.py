"""Scripts of TensorFlow 1, and of both versions."""

import pytest

from frontends.tf.check.fixes import changes_in
from frontends.tf.check.versions import uses_in_its_version

V1, V2 = "from frontends.tf.compat import v1 as tf", "from frontends import tf"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tf.layers.dense(x, 1)", V1),
        ("tf.Session()", V1),
        ("tf.placeholder(tf.float32)", V1),
        ("tf.train.AdamOptimizer()", V1),
        ("tf.contrib.layers.flatten(x)", V1),
        ("tf.contrib.nothing.known(x)", V1),
        ("tf.random_normal([2])", V1),
        ("tf.losses.sparse_softmax_cross_entropy(y, z)", V1),
        ("tf.app.run()", V1),
        ("tf.logging.info('text')", V1),
        ("tf.python_io.TFRecordWriter('file')", V1),
        ("tf.feature_column.input_layer(f, c)", V1),
        ("tf.saved_model.simple_save(*a)", V1),
        ("tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS", V1),
        ("tf.initializers.variables(v)", V1),
        ("tf.data.Dataset.range(3).make_one_shot_iterator()", V1),
        ("tf.nn.dropout(x, 0.5)", V2),
        ("tf.compat.v1.layers.dense(x, 1)", V2),
        ("tf.keras.losses.MeanSquaredError()", V2),
        ("tf.losses.Reduction.SUM", V2),
        ("tf.initializers.random_uniform()", V2),
        ("tf.queue.FIFOQueue(1, [tf.int32])", V2),
        ("tf.Graph()", V2),
        ("tf.as_string(x)", V2),
        ("tf.kron(x, x)", V2),
        ("if hasattr(tf, 'Session'): tf.Session()", V2),
    ],
)
def test_a_script_imports_its_version(line, expected):
    text = f"import tensorflow as tf\n{line}"
    assert [one.new for one in changes_in(text, uses_in_its_version(text))] == [expected]


def test_other_imports_stay_what_they_are():
    text = "import numpy as np, tensorflow as tf\nfrom tensorflow import keras\ntf.Session()"
    assert [one.new for one in changes_in(text, uses_in_its_version(text))] == [
        f"import numpy as np\n{V1}",
        "from frontends.tf import keras",
    ]


def test_names_that_differ_in_version_1_are_imported_from_it():
    text = "from tensorflow import feature_column, float32\nfrom tensorflow.nn import dropout"
    used = f"{text}\nfeature_column.input_layer(f, c)"
    script = uses_in_its_version(used)
    assert not any(use.found.is_missing for use in script.uses)
    assert [one.new for one in changes_in(used, script)] == [
        "from frontends.tf.compat.v1 import feature_column\nfrom frontends.tf import float32",
        "from frontends.tf.compat.v1.nn import dropout",
    ]


@pytest.mark.parametrize(
    ("text", "is_1", "is_certain"),
    [
        ("import tensorflow as tf\ntf.layers.dense(x, 1)", True, True),
        ("import tensorflow as tf\ntf.nn.dropout(x, 0.9)", True, False),
        ("from tensorflow.nn import dropout", True, False),
        ("import tensorflow as tf\ntf.metrics.Mean()", False, True),
        ("import tensorflow as tf\ntf.losses.MeanSquaredError()", False, True),
        ("import tensorflow as tf\ntf.optimizers.Adam()", False, True),
        ("import tensorflow as tf\nif hasattr(tf, 'eig'): tf.eig(x)", True, False),
        ("import tensorflow.compat.v1 as tf\ntf.layers.dense(x, 1)", False, True),
        ("import tensorflow.compat.v2 as tf", False, True),
        ("from frontends import tf", False, True),
    ],
)
def test_other_modules_tell_the_version_of_a_script_that_does_not(text, is_1, is_certain):
    version = uses_in_its_version(text, "others say so").version
    assert (version.is_1, version.is_certain) == (is_1, is_certain)
    assert (version.because == "others say so") == (is_1 and not is_certain)
    assert not uses_in_its_version(text).version.is_1 or is_certain


@pytest.mark.parametrize(
    "line",
    [
        "from frontends import tf",
        "import tensorflow.compat.v2 as tf",
        "from frontends.tf.compat import v1 as tf",
    ],
)
def test_imports_that_name_a_version_stay(line):
    script = uses_in_its_version(f"{line}\ntf.feature_column.input_layer(f, c)")
    (use,) = script.uses
    assert use.found.is_missing == ("v1" not in line)
    assert "v1" not in (changed[0].new if (changed := changes_in(line, script)) else "")
