"""How names that exist differ from TensorFlow's, and which arguments change nothing.

What tests/golden states stands in `differences.json`; `python -m tests.check_facts` writes it. Arguments without effect are read
from the functions themselves, and from `accepted.py`.
"""

import ast
import functools
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frontends.tf.check import names
from frontends.tf.check.accepted import ACCEPTED, Accepted
from frontends.tf.check.findings import Finding, Kind
from frontends.tf.check.names import Found
from frontends.tf.check.unread import unread_parameters
from frontends.tf.check.uses import Use

_STATED: dict[str, Any] = json.loads(Path(__file__).with_name("differences.json").read_text())
_NOTES: dict[str, str] = _STATED["notes"]
_64_BITS = "has 32 bits, unless jax.config.update('jax_enable_x64', True) comes first"
# What is not about a name of tf.distribute.
_OTHERS = dict.fromkeys(
    (f"tf.{kind}" for kind in ("complex128", "double", "float64", "int64", "uint64")), _64_BITS
)


def findings_of(use: Use) -> Iterator[Finding]:
    r"""Says what there is to know about a use of a name.

    Args:
        use: of the name.

    Examples:
        >>> from frontends.tf.check.uses import uses_in
        >>> (use,) = uses_in(
        ...     "import tensorflow as tf\ntf.Variable(1, trainable=False, caching_device='x')"
        ... ).uses
        >>> [(one.kind.value, one.text) for one in findings_of(use)]
        [('no effect', 'caching_device= changes nothing here')]
    """
    found = use.found
    if found.is_missing:
        # A note says why a method will not come.
        why = _NOTES.get(names.path_in_2(found), "")
        text = f"{found.message} {why}." if why else found.message
        yield missing(found.path, use.line, text, use.guard)
        return
    if found.message:
        yield Finding(Kind.CARE, use.line, found.path, found.message)
    note = _note(found)
    if note is not None:
        yield Finding(Kind.DIFFERS, use.line, found.path, note)
    passed = None if use.call is None else _passed(found, use.call)
    for stated in _stated().get(names.path_in_2(found), ()):
        if _fits(stated["condition"], passed):
            text = f"{stated['title']}: {stated['ours']}. {stated['why']}"
            yield Finding(Kind.DIFFERS, use.line, found.path, text)
    for text in _without_effect(found, passed, is_noted=note is not None):
        yield Finding(Kind.NO_EFFECT, use.line, found.path, text)


def missing(name: str, line: int, text: str, guard: str) -> Finding:
    """Says that a name is missing.

    Args:
        name: that is missing.
        line: that uses it.
        text: what to use instead.
        guard: why the script goes on; empty if it does not.
    """
    if guard:
        return Finding(Kind.OPTIONAL, line, name, f"Missing, but {guard}. {text}")
    return Finding(Kind.MISSING, line, name, text)


def _note(found: Found) -> str | None:
    path = names.path_in_2(found)
    if path in _NOTES:
        return _NOTES[path]
    if path in _OTHERS:
        return _OTHERS[path]
    owner, _, name = path.rpartition(".")
    cls = names.find(owner).value if owner else None
    for base in cls.__mro__ if isinstance(cls, type) else ():
        if (base, name) in _member_notes():
            return _member_notes()[base, name]
        if name in vars(base):
            return None
    return None


@functools.cache
def _member_notes() -> dict[tuple[type, str], str]:
    """Notes of methods, by the class that they are noted for; its subclasses have them too."""
    notes: dict[tuple[type, str], str] = {}
    for path, text in _NOTES.items():
        owner, _, name = path.rpartition(".")
        cls = names.find(owner).value
        if isinstance(cls, type):
            notes[cls, name] = text
    return notes


@functools.cache
def _stated() -> dict[str, list[dict[str, str]]]:
    """Differences by the name that they are about."""
    found: dict[str, list[dict[str, str]]] = {}
    for one in _STATED["differences"]:
        for use in one["uses"]:
            path, _, condition = use.rstrip(")").partition("(")
            found.setdefault(path, []).append({**one, "condition": condition})
    return found


def _fits(condition: str, passed: dict[str, ast.expr] | None) -> bool:
    if not condition:
        return True
    return passed is not None and (condition[1:] in passed) == (condition[0] == "+")


def _passed(found: Found, call: ast.Call) -> dict[str, ast.expr]:
    """Tells which parameters a call passes, and what."""
    passed = {word.arg: word.value for word in call.keywords if word.arg is not None}
    for name, value in zip(_positional(found), call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        passed[name] = value
    return passed


def _positional(found: Found) -> list[str]:
    parameters = _signature(found).values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    listed = [each.name for each in parameters if each.kind in positional]
    return listed[1:] if listed[:1] == ["self"] else listed


def _signature(found: Found) -> dict[str, inspect.Parameter]:
    return _signature_of(found.value) if found.kind in ("class", "function") else {}


@functools.cache
def _signature_of(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # None stands for a function of Keras
        return {}


def _without_effect(
    found: Found, passed: dict[str, ast.expr] | None, is_noted: bool
) -> Iterator[str]:
    for one in _accepted().get(names.path_in_2(found), ()):
        counts = passed and one.but and set(one.but) >= set(passed)
        if not one.parameters and not counts and not is_noted:  # a note says it, too
            yield f"changes nothing here: {one.because}"
        for each in sorted(set(one.parameters) & set(passed or ())):
            yield f"{each}= changes nothing here: {one.because}"
    function = found.value.__init__ if isinstance(found.value, type) else found.value
    is_ours = getattr(function, "__module__", None) or ""
    if not passed or not is_ours.startswith("frontends."):
        return
    defaults = _signature(found)
    for each in unread_parameters(function):
        if each in passed and not _is_default(passed[each], defaults.get(each)):
            yield f"{each}= changes nothing here"


def _is_default(value: ast.expr, parameter: inspect.Parameter | None) -> bool:
    return (
        parameter is not None
        and isinstance(value, ast.Constant)
        and type(value.value) is type(parameter.default)
        and value.value == parameter.default
    )


@functools.cache
def _accepted() -> dict[str, list[Accepted]]:
    found: dict[str, list[Accepted]] = {}
    for one in ACCEPTED:
        for name in one.names:
            found.setdefault(name, []).append(one)
    return found
