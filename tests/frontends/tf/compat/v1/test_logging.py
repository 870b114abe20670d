"""`tf.compat.v1.logging` is Python's logger "tensorflow"."""

import logging

import pytest

from frontends import tf


@pytest.fixture(autouse=True)
def _level_left_as_it_was():
    level = tf.get_logger().level
    yield
    tf.get_logger().setLevel(level)


def test_levels_are_those_of_python(caplog):
    logger = tf.compat.v1.logging
    assert logger.get_logger() is tf.get_logger() is logging.getLogger("tensorflow")
    logger.set_verbosity(logger.ERROR)
    assert logger.get_verbosity() == logging.ERROR
    logger.info("quiet")
    logger.error("loud %d", 7)
    assert [record.getMessage() for record in caplog.records] == ["loud 7"]


def test_switches_of_tensorflow_1_do_nothing():
    assert tf.compat.v1.enable_eager_execution() is None
    assert tf.compat.v1.enable_v2_behavior() is None
