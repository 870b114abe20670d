"""`tf.compat.v1.logging`: the logger "tensorflow", which is Python's.

Once a script has set what it wants to see, records go to standard error, unless the program has handlers of its own.
"""

import collections
import logging
import sys
from logging import DEBUG as DEBUG
from logging import ERROR as ERROR
from logging import FATAL as FATAL
from logging import INFO as INFO
from logging import WARN as WARN

# By place in a script, how often it has come there.
_CALLS: collections.Counter[tuple[str, int]] = collections.Counter()


class _StandardError(logging.Handler):
    """Writes to standard error, while Python's root logger has no handlers."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.root.handlers:
            print(self.format(record), file=sys.stderr, flush=True)


_HANDLER = _StandardError()
_HANDLER.setFormatter(logging.Formatter(logging.BASIC_FORMAT))


def get_logger() -> logging.Logger:
    """Returns the logger."""
    return logging.getLogger("tensorflow")


def set_verbosity(v: int | str) -> None:
    """Sets the level under which nothing is logged, and has the rest go to standard error."""
    get_logger().addHandler(_HANDLER)
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """Returns the level under which nothing is logged."""
    return get_logger().getEffectiveLevel()


debug = get_logger().debug
info = get_logger().info
warning = warn = get_logger().warning
error = get_logger().error
fatal = get_logger().critical
log = get_logger().log


def log_if(level: int, msg: str, condition: object, *args: object) -> None:
    """Logs if a condition holds."""
    if condition:
        get_logger().log(level, msg, *args, stacklevel=2)


def log_first_n(level: int, msg: str, n: int, *args: object) -> None:
    """Logs the first `n` times that this line of a script runs."""
    if _count() < n:
        get_logger().log(level, msg, *args, stacklevel=2)


def log_every_n(level: int, msg: str, n: int, *args: object) -> None:
    """Logs every `n`-th time that this line of a script runs, the first one included."""
    if _count() % n == 0:
        get_logger().log(level, msg, *args, stacklevel=2)


def vlog(level: int, msg: str, *args: object) -> None:
    """Logs; the level is Python's."""
    get_logger().log(level, msg, *args, stacklevel=2)


def flush() -> None:
    """Flushes what handlers hold back."""
    for handler in (*get_logger().handlers, *logging.root.handlers):
        handler.flush()


def _count() -> int:
    """Returns how often the caller's line has called before."""
    frame = sys._getframe(2)
    place = frame.f_code.co_filename, frame.f_lineno
    _CALLS[place] += 1
    return _CALLS[place] - 1
