"""Internals of TensorFlow that scripts import, and what to import for them."""

import pytest

from frontends.tf.check.fixes import changed, changes_in
from frontends.tf.check.internals import PUBLIC
from frontends.tf.check.names import find, python_module
from frontends.tf.check.uses import uses_in


@pytest.mark.parametrize("path", sorted(set(PUBLIC.values())))
def test_a_public_module_exists(path):
    assert find(path).kind == "module"
    assert python_module(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "from tensorflow.python.platform import tf_logging as logging",
            "from frontends.tf.compat.v1 import logging",
        ),
        (
            "from tensorflow.python.ops import math_ops",
            "from frontends.tf.compat import v1 as math_ops",
        ),
        (
            "from tensorflow.python.ops.math_ops import reduce_sum",
            "from frontends.tf.compat.v1 import reduce_sum",
        ),
        (
            "from tensorflow.python.data.experimental import AUTOTUNE",
            "from frontends.tf.data.experimental import AUTOTUNE",
        ),
        (
            "from tensorflow.python.distribute.values import PerReplica",
            "from frontends.tf.types.distributed import PerReplica",
        ),
        (
            "from tensorflow.python.client import device_lib",
            "from frontends.tf.config import device_lib",
        ),
        (
            "from tensorflow.python.client.device_lib import list_local_devices",
            "from frontends.tf.config.device_lib import list_local_devices",
        ),
        (
            "from tensorflow.python.distribute import distribute_lib as ds",
            "from frontends.tf import distribute as ds",
        ),
        (
            "from tensorflow.python.keras.optimizer_v2.adam import Adam",
            "from frontends.tf.keras.optimizers import Adam",
        ),
        (
            "from tensorflow.contrib.tpu.python.tpu import tpu_config",
            "from frontends.tf.contrib import tpu as tpu_config",
        ),
        (
            "from tensorflow_estimator.python.estimator.mode_keys import ModeKeys",
            "from frontends.tf.compat.v1.estimator import ModeKeys",
        ),
        (
            "from tensorflow.core.protobuf.config_pb2 import ConfigProto",
            "from frontends.tf.compat.v1 import ConfigProto",
        ),
    ],
)
def test_it_is_imported(old, new):
    script = uses_in(old)
    assert changed(old, changes_in(old, script)) == new


def test_names_are_looked_up_there():
    script = uses_in(
        "from tensorflow.python.training import session_run_hook as hooks\n"
        "class A(hooks.SessionRunHook): pass\nhooks._Private"
    )
    found = {use.found.path: use.found.is_missing for use in script.uses}
    assert found == {
        "tf.compat.v1.train.SessionRunHook": False,
        "tf.compat.v1.train._Private": True,
    }
