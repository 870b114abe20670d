"""Forms of a call: `f(1, b=2)`, `f(1, 2)` and `f(1)`, if `b` is 2 by default, are one call, with one program."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from frontends.tf._typing import Nested

Call: TypeAlias = tuple[tuple[Nested, ...], dict[str, Nested]]

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NUMBERS = (int, float, complex)


class CallForms:
    """Brings the calls of a function into one form.

    Arguments stand by position where they can. Defaults that are numbers, texts or None are filled in. Other
    objects that are the default are left out, so that they stay what the function closes over.

    Examples:
        >>> def function(x, scale=1.0, name=None): ...
        >>> forms = CallForms(function)
        >>> forms.one(("x",), {}), forms.one((), {"name": None, "x": "x"})
        ((('x', 1.0, None), {}), (('x', 1.0, None), {}))

    Source: the function types of `tf.function`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Reads the parameters of a function; a builtin may not have any that can be read."""
        self.signature = signature_of(function)
        self._parameters = list(self.signature.parameters.values()) if self.signature else []
        self._tails = self._make_tails()

    def one(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> Call:
        """Brings a call into the one form.

        Args:
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            Positional and keyword arguments; as they are, if the function does not take them.
        """
        if not kwargs:
            tail = self._tails[min(len(args), len(self._tails) - 1)]
            if tail is not None:
                return args + tail, {}
        if self.signature is None:
            return args, dict(kwargs)
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return args, dict(kwargs)  # the call says what is wrong, in Python's words
        positional: list[Nested] = []
        named: dict[str, Nested] = {}
        by_position = True
        # What stands behind others cannot be named.
        has_more = any(
            given.get(p.name) if p.kind is p.VAR_POSITIONAL else p.name in given
            for p in self._parameters
            if p.kind in (p.VAR_POSITIONAL, p.POSITIONAL_ONLY)
        )
        for parameter in self._parameters:
            name, kind = parameter.name, parameter.kind
            value = given.get(name, parameter.default)
            if kind is parameter.VAR_POSITIONAL:
                positional += given.get(name, ())
                by_position = False
            elif kind is parameter.VAR_KEYWORD:
                named |= given.get(name, {})
            elif kind is parameter.KEYWORD_ONLY:
                if not _is_default(value, parameter) or type(value) in _NUMBERS:
                    named[name] = value
            elif value is parameter.default and not is_plain(value) and not has_more:
                by_position = False
            elif by_position:
                positional.append(value)
            elif kind is not parameter.POSITIONAL_ONLY:
                named[name] = value
        return tuple(positional), named

    def _make_tails(self) -> list[tuple[Nested, ...] | None]:
        """Lists the defaults that follow so many positional arguments; None where the long way is needed."""
        by_position = [
            p.default
            for p in self._parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        by_name = [p.default for p in self._parameters if p.kind is p.KEYWORD_ONLY]
        numbers_by_name = any(type(default) in _NUMBERS for default in by_name)
        return [
            None
            if numbers_by_name
            else ()
            if any(
                each is inspect.Parameter.empty for each in by_position[count:]
            )  # an argument is missing
            else _plain_or_none(by_position[count:])
            for count in range(len(by_position) + 1)
        ]


def _plain_or_none(defaults: list[Nested]) -> tuple[Nested, ...] | None:
    return tuple(defaults) if all(map(is_plain, defaults)) else None


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Returns the parameters of a callable as it is called; None if they cannot be read."""
    try:
        # What a decorator wraps may take other arguments than the wrapper.
        return inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return None


def is_plain(value: object) -> bool:
    """Tells whether a default is a number, a text, None, or a tuple of them."""
    return type(value) in _PLAIN or (type(value) is tuple and all(map(is_plain, value)))


def _is_default(value: object, parameter: inspect.Parameter) -> bool:
    default = parameter.default
    return value is default or (
        is_plain(value) and type(value) is type(default) and repr(value) == repr(default)
    )
