"""`tf.compat.v1.logging`: the logger "tensorflow", which is Python's."""

import logging
from logging import DEBUG as DEBUG
from logging import ERROR as ERROR
from logging import FATAL as FATAL
from logging import INFO as INFO
from logging import WARN as WARN


def get_logger() -> logging.Logger:
    """Returns the logger."""
    return logging.getLogger("tensorflow")


def set_verbosity(v: int | str) -> None:
    """Sets the level under which nothing is logged."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """Returns the level under which nothing is logged."""
    return get_logger().getEffectiveLevel()


debug = get_logger().debug
info = get_logger().info
warning = warn = get_logger().warning
error = get_logger().error
