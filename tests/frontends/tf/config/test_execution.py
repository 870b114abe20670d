"""How functions run."""

import pytest

from frontends import tf


@pytest.fixture(autouse=True)
def settings():
    yield
    tf.config.run_functions_eagerly(False)
    tf.config.set_soft_device_placement(True)


def test_functions_run_as_python_on_request():
    @tf.function
    def total(x):
        found = 0
        while found < 10:
            found += int(x.numpy())
        return found

    with pytest.raises(AttributeError, match="is traced"):
        total(tf.constant(3))
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly()
    assert int(total(tf.constant(3))) == 12
    assert total.experimental_get_tracing_count() == 0


def test_the_older_names_are_the_same():
    tf.config.experimental_run_functions_eagerly(True)
    assert tf.config.experimental_functions_run_eagerly()


def test_soft_placement_is_noted():
    assert tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    assert not tf.config.get_soft_device_placement()
