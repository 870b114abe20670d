"""`tf.autograph.experimental`: options of loops, and which functions are left alone."""

import enum
from typing import Any

from frontends.tf import _names
from frontends.tf.autograph.options import do_not_convert as do_not_convert


class Feature(enum.Enum):
    """Optional parts of TensorFlow's AutoGraph; here what works is always on.

    Source: `tf.autograph.experimental.Feature`.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


_getattr, __dir__ = _names.attributes(
    "tf.autograph.experimental",
    {"Feature": Feature, "do_not_convert": do_not_convert},
    present=["set_loop_options"],
)


def __getattr__(name: str) -> Any:
    if name == "set_loop_options":
        # malt's own: by this very function it knows calls of it.
        from malt.lang.directives import set_loop_options

        return set_loop_options
    return _getattr(name)
