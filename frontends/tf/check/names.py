"""Which of TensorFlow's names exist here: looked up, but never called, and without importing Keras.

A name is looked up in this front end itself, so that the answer and the words of the error are those that a script gets.
Names of `tf.keras` are looked up in a list that stands in `keras_names.json`, because importing Keras takes seconds.
"""

import dataclasses
import functools
import inspect
import sys
import types
import typing
from typing import Any

from frontends import tf
from frontends.tf._names import unknown_keras_name, unknown_name
from frontends.tf.check import keras_names, stored


@dataclasses.dataclass(frozen=True)
class Found:
    """What a name stands for.

    Attributes:
        path: the name, such as `"tf.data.Dataset.map"`; of a missing name the part up to what is missing.
        kind: `"module"`, `"class"`, `"function"`, `"value"`, `"instance"`, or `"missing"`; `"unknown"` for what cannot be told
            without running the script.
        value: the object, for an instance its class; None where Keras is not imported for it.
        keras_class: a class of `keras_names`, for an instance its class.
        message: of a missing name, what its error says; of another, what has to be installed for it.
        may_be_subclass: of an instance, whether it may be one of a subclass that the script defines.
    """

    path: str
    kind: str
    value: Any = None
    keras_class: str | None = None
    message: str = ""
    may_be_subclass: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether a script gets an error for the name."""
        return self.kind == "missing"


ROOT = Found("tf", "module", tf)
_of_instances: dict[tuple[str, str, bool], Found] = {}


@functools.cache
def find(path: str) -> Found:
    """Looks up a name.

    Args:
        path: the name, beginning with `tf`.

    Examples:
        >>> find("tf.data.Dataset.batch").kind
        'function'
        >>> find("tf.keras.layers.Dense").kind
        'class'
        >>> find("tf.kron.x").message
        'tf.kron is not part of jaxtribute. JAX has it: use jnp.kron, or open an issue.'
    """
    owner, _, name = path.rpartition(".")
    return _member(find(owner), name) if owner else ROOT


def member(owner: Found, name: str) -> Found:
    """Looks up an attribute of what a name stands for.

    Args:
        owner: what has the attribute, or has not.
        name: of the attribute.
    """
    if owner.kind in ("module", "class"):
        return find(f"{owner.path}.{name}")
    if owner.kind != "instance":
        return _member(owner, name)
    known = owner.path, name, owner.may_be_subclass
    if known not in _of_instances:
        _of_instances[known] = _member(owner, name)
    return _of_instances[known]


def _member(owner: Found, name: str) -> Found:
    if owner.kind in ("missing", "unknown") or name.startswith("__"):
        return owner if owner.is_missing else Found(f"{owner.path}.{name}", "unknown")
    path = f"{owner.path}.{name}"
    if owner.kind == "module":
        return _in_module(owner, name)
    if owner.keras_class is not None:
        if name in keras_names.members(owner.keras_class):
            return Found(path, "function")
        if owner.may_be_subclass or keras_names.has_more(owner.keras_class):
            return Found(path, "unknown")
        return _missing(path, f"{owner.path} has no attribute {name} in Keras 3.")
    if owner.kind == "instance":
        return _of_instance(owner, name)
    if owner.value is None or _answers_for_others(type(owner.value)):
        return Found(path, "unknown")  # it makes attributes as a script needs them: flags, for one
    try:
        return _describe(path, getattr(owner.value, name))
    except AttributeError as error:
        return _missing(path, _said(owner, name, error))


def path_in_2(found: Found) -> str:
    """Gives the name in `tf` of what `tf.compat.v1` has too, or of what both lack; the name itself, of what differs in them.

    Args:
        found: what the name stands for.

    Examples:
        >>> path_in_2(find("tf.compat.v1.distribute.MirroredStrategy"))
        'tf.distribute.MirroredStrategy'
        >>> path_in_2(find("tf.compat.v1.nn.dropout"))
        'tf.compat.v1.nn.dropout'
    """
    if not found.path.startswith("tf.compat.v1."):
        return found.path
    path = found.path.replace("compat.v1.", "", 1)
    other = find(path)
    is_same = not other.is_missing and other.value is found.value
    return path if is_same or found.is_missing else found.path


def made(function: Found) -> Found | None:
    """Tells what calling a class or function gives, if that can be told.

    Args:
        function: what is called.

    Returns:
        The instance, or None.

    Examples:
        >>> made(find("tf.data.Dataset.range")).path
        'tf.data.Dataset'
        >>> made(find("tf.distribute.MirroredStrategy")).kind
        'instance'
        >>> made(find("tf.cast")) is None
        True
    """
    if function.kind == "class":
        return dataclasses.replace(function, kind="instance")
    if function.kind != "function" or function.value is None:
        return None
    returned = _returned(inspect.unwrap(function.value))
    owner = function.path.rpartition(".")[0]
    if returned is typing.Self:
        found = find(owner)
        return dataclasses.replace(found, kind="instance") if found.kind == "class" else None
    path = _public_classes().get(returned) if isinstance(returned, type) else None
    return None if path is None else Found(path, "instance", returned)


@functools.cache
def python_module(path: str) -> str | None:
    """Gives the module to import for one of TensorFlow's.

    Args:
        path: TensorFlow's name of it.

    Returns:
        Python's name of it here; None if there is none.

    Examples:
        >>> python_module("tf.compat.v1.keras.layers")
        'frontends.tf.keras.layers'
        >>> python_module("tf.initializers")
        'frontends.tf.keras.initializers'
    """
    found = find(path)
    if found.kind != "module":
        return None
    if found.value is None:
        return keras_names.SAME.get(found.path, f"frontends.{found.path}")
    name = found.value.__name__
    return name if name in sys.modules else None


def _in_module(owner: Found, name: str) -> Found:
    path = f"{owner.path}.{name}"
    if owner.path == "tf.compat.v1" and name in keras_names.TOP and name not in dir(owner.value):
        return find(f"tf.{name}")
    if path in keras_names.MODULES:
        return Found(path, "module")
    if owner.path in keras_names.MODULES:
        known = keras_names.MODULES[owner.path]
        if name in known:
            kind, keras_class = known[name]
            return Found(path, kind, keras_class=keras_class)
        return _missing(path, unknown_keras_name(owner.path, name, known, keras_names.HINTS))
    if path == "tf.compat.v2":
        # All of TensorFlow 2's names: scripts import it for `tf`.
        return ROOT
    try:
        return _describe(path, getattr(owner.value, name))
    except AttributeError as error:
        text = str(error)
        if "is not part of" not in text and "is planned" not in text:
            text = unknown_name(owner.path, name, dir(owner.value))
        return _missing(path, text)
    except ImportError as error:
        return Found(path, "unknown", message=str(error))


def _of_instance(owner: Found, name: str) -> Found:
    cls = owner.value
    path = f"{owner.path}.{name}"
    try:
        value = getattr(cls, name)
    except AttributeError as error:
        answers = owner.may_be_subclass or _answers_for_others(cls)
        if answers or name in stored.attributes(cls):
            return Found(path, "unknown")
        return _missing(path, _said(owner, name, error))
    # The class does not tell what a property gives.
    return _describe(path, value) if callable(value) else Found(path, "value")


def _answers_for_others(cls: type) -> bool:
    """Tells whether `__getattr__` may give instances attributes that nothing lists; some only raise an error there."""
    method = getattr(cls, "__getattr__", None)
    return method is not None and _returned(method) is not typing.NoReturn


def _said(owner: Found, name: str, error: AttributeError) -> str:
    """The words of an error, if they are ours."""
    if hasattr(type(owner.value), "__getattr__"):
        return str(error)
    return f"{owner.path} has no attribute {name}."


def _describe(path: str, value: Any) -> Found:
    if isinstance(value, types.ModuleType):
        return Found(path, "module", value)
    if isinstance(value, type):
        return Found(path, "class", value)
    return Found(path, "function" if callable(value) else "value", value)


def _missing(path: str, message: str) -> Found:
    return Found(path, "missing", message=message)


@functools.cache
def _returned(function: Any) -> Any:
    try:
        return typing.get_type_hints(function).get("return")
    except Exception:  # annotations may name what only type checkers import
        return None


@functools.cache
def _public_classes() -> dict[type, str]:
    """Classes whose instances scripts call methods of, by the name that reports use."""
    paths = (
        *("tf.data.Dataset", "tf.data.Options", "tf.Variable", "tf.GradientTape", "tf.TensorArray"),
        *("tf.distribute.DistributedDataset", "tf.distribute.Strategy"),
        *("tf.distribute.ReplicaContext", "tf.train.CheckpointManager"),
    )
    found = [find(path) for path in paths]
    return {one.value: one.path for one in found if one.kind == "class"}
