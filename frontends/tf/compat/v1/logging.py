"""`tf.compat.v1.logging`: the logger "tensorflow", which is Python's."""

import logging
from logging import DEBUG, ERROR, FATAL, INFO, WARN

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "get_logger",
    "get_verbosity",
    "info",
    "set_verbosity",
    "warn",
    "warning",
]


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
