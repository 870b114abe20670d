"""`tf.compat.v1.flags`: absl's flags; `FLAGS` reads the command line when a value is first asked for."""

import sys
from collections.abc import Callable
from typing import Any

from absl import flags

from frontends.tf._names import attributes, defined_in

# Flags belong to the module that calls the functions below, not to this one.
flags.disclaim_key_flags()

_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class _Flags:
    """absl's `FLAGS`, whose values can be read before `tf.app.run`.

    Source: `tf.compat.v1.flags.FLAGS`.
    """

    def __getattr__(self, name: str) -> Any:
        if not (
            name.startswith("__") or flags.FLAGS.is_parsed() or hasattr(type(flags.FLAGS), name)
        ):
            flags.FLAGS(sys.argv)
        return getattr(flags.FLAGS, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(flags.FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(flags.FLAGS, name)

    def __dir__(self) -> Any:
        return dir(flags.FLAGS)

    def __getitem__(self, name: str) -> Any:
        return flags.FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        flags.FLAGS[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in flags.FLAGS

    def __len__(self) -> int:
        return len(flags.FLAGS)

    def __iter__(self) -> Any:
        return iter(flags.FLAGS)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Reads a command line; see `absl.flags.FLAGS`."""
        return flags.FLAGS(*args, **kwargs)

    def __str__(self) -> str:
        return str(flags.FLAGS)


def DEFINE_string(*args: Any, **kwargs: Any) -> Any:
    """Defines a flag that is a text.

    Args:
        *args: name, default and help, which may also be named so, or `flag_name`, `default_value` and `docstring`.
        **kwargs: see `absl.flags.DEFINE_string`.

    Source: `tf.compat.v1.flags.DEFINE_string`.
    """
    return _define(flags.DEFINE_string, args, kwargs)


def DEFINE_integer(*args: Any, **kwargs: Any) -> Any:
    """Defines a flag that is an integer; see `DEFINE_string`.

    Source: `tf.compat.v1.flags.DEFINE_integer`.
    """
    return _define(flags.DEFINE_integer, args, kwargs)


def DEFINE_float(*args: Any, **kwargs: Any) -> Any:
    """Defines a flag that is a number; see `DEFINE_string`.

    Source: `tf.compat.v1.flags.DEFINE_float`.
    """
    return _define(flags.DEFINE_float, args, kwargs)


def DEFINE_boolean(*args: Any, **kwargs: Any) -> Any:
    """Defines a flag that is true or false: `--name`, `--noname`, `--name=true`; see `DEFINE_string`.

    Source: `tf.compat.v1.flags.DEFINE_boolean`.
    """
    return _define(flags.DEFINE_boolean, args, kwargs)


def DEFINE_bool(*args: Any, **kwargs: Any) -> Any:
    """Defines a flag that is true or false; see `DEFINE_boolean`.

    Source: `tf.compat.v1.flags.DEFINE_bool`.
    """
    return _define(flags.DEFINE_boolean, args, kwargs)


def _define(define: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = {_RENAMED.get(name, name): value for name, value in kwargs.items()}
    name = args[0] if args else named.get("name")
    if name == "log_dir" and flags.FLAGS.find_module_defining_flag(name) == "absl.logging":
        # Scripts call their own folder so, and absl its own: before TensorFlow had absl, both could.
        named.setdefault("allow_override", True)
    return define(*args, **named)


FLAGS = _Flags()

__getattr__, __dir__ = attributes(
    "tf.compat.v1.flags",
    {**defined_in(__name__), "FLAGS": FLAGS},
    borrowed=dict.fromkeys(
        (
            *("DEFINE_alias", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag", "DEFINE_list"),
            *("DEFINE_multi_enum", "DEFINE_multi_float", "DEFINE_multi_integer"),
            *("DEFINE_multi_string", "DEFINE_spaceseplist", "mark_flag_as_required"),
            *("mark_flags_as_required", "mark_flags_as_mutual_exclusive", "register_validator"),
            *("adopt_module_key_flags", "declare_key_flag", "validator"),
        ),
        "absl.flags",
    ),
    rest="absl.flags",
)
