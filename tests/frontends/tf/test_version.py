"""`tf.version` reads like TensorFlow's."""

from packaging.version import Version

from frontends import tf


def test_scripts_read_the_version_of_tensorflow():
    assert [int(number) for number in tf.__version__.split(".")] == [2, 21, 0]
    assert Version(tf.version.VERSION) == Version("2.21")


def test_the_version_of_this_project_is_beside_it():
    local = Version(tf.version.GIT_VERSION).local
    assert local is not None
    assert local.startswith("jaxtribute")
