"""`tf.compat.v1.app`: reads the flags of a script, and calls its `main`."""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from absl import app
from absl import logging as absl_logging

from frontends.tf._names import attributes
from frontends.tf.compat.v1 import flags


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Reads flags, calls a function with what else is on the command line, and ends the program with what it returns.

    Flags that nobody defined are left alone, as in TensorFlow. absl has records of level INFO go to standard error; those of
    JAX and Orbax, which TensorFlow does not have, are left out.

    Args:
        main: takes the name of the program and the other arguments; None is `main` of the script.
        argv: the command line; None is `sys.argv`.

    Raises:
        AttributeError: there is no `main`.
        SystemExit: when it has returned, always.

    Source: `tf.compat.v1.app.run`.
    """
    if main is None:
        main = getattr(sys.modules["__main__"], "main", None)
        if main is None:
            raise AttributeError(
                "tf.app.run() calls the function main of the script, but there is none. Define main(argv), or write "
                "tf.app.run(main=train)."
            )
    absl_logging.get_absl_handler().addFilter(_is_shown)
    app.run(main, argv=None if argv is None else list(argv), flags_parser=_known)


def _known(argv: list[str]) -> list[str]:
    return flags.FLAGS(argv, known_only=True)


def _is_shown(record: logging.LogRecord) -> bool:
    if record.levelno >= logging.WARNING:
        return True
    return not record.name.startswith("jax.") and _ORBAX not in record.pathname


_ORBAX = f"{os.sep}orbax{os.sep}checkpoint{os.sep}"

__getattr__, __dir__ = attributes("tf.compat.v1.app", {"run": run, "flags": flags})
