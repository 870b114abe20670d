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


def test_some_of_the_times(caplog):
    logger = tf.logging
    logger.set_verbosity(logger.INFO)
    for i in range(5):
        logger.log_first_n(logger.INFO, "first %d", 2, i)
        logger.log_every_n(logger.INFO, "every %d", 3, i)
        logger.log_if(logger.INFO, "even %d", i % 2 == 0, i)
    logger.log(logger.WARN, "said")
    logger.vlog(logger.DEBUG, "too low")
    logger.fatal("fatal")
    logger.flush()
    assert [record.getMessage() for record in caplog.records] == [
        *("first 0", "every 0", "even 0", "first 1", "even 2", "every 3", "even 4"),
        *("said", "fatal"),
    ]
    assert caplog.records[0].filename == "test_logging.py"


def test_records_go_to_standard_error_unless_the_program_has_handlers(monkeypatch, capsys):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("handled")
    monkeypatch.setattr(logging.root, "handlers", [])
    tf.logging.info("shown")
    tf.logging.debug("too low")
    assert capsys.readouterr().err == "INFO:tensorflow:shown\n"
