"""`tf.version` reads like TensorFlow's."""

from packaging.version import Version

from frontends import tf


def test_scripts_read_the_version_of_tensorflow():
    assert int(tf.__version__.split(".")[0]) == 2
    version = Version(tf.version.VERSION)
    assert version >= Version("2.21")
    assert version.local is not None
    assert version.local.startswith("jaxtribute")
