"""`tf.function(input_signature=...)`: what a function takes is declared, checked and converted."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf._typing import Nested
from frontends.tf.call_forms import Call, signature_of
from frontends.tf.spec_fitting import SPECS, Declaration, is_same, leaves_of


class InputSignature:
    """The declared arguments of a function.

    Attributes:
        specs: for each declared parameter, what it takes, with its name in the specs.

    Examples:
        >>> from frontends import tf
        >>> def scale(x, factor): ...
        >>> signature = InputSignature(
        ...     scale, [tf.TensorSpec([None], tf.float32), tf.TensorSpec([])]
        ... )
        >>> args, _ = signature.bind(([1, 2],), {"factor": 3})
        >>> [(arg.shape, arg.dtype.name) for arg in args]
        [((2,), 'float32'), ((), 'float32')]

    Source: the type constraints of `tf.function`.
    """

    def __init__(self, function: Callable[..., Any], declared: Sequence[Nested]) -> None:
        """Gives each parameter its part of a signature.

        Args:
            function: its first parameter is left out where it is called `self`.
            declared: specs, or nested structures of them, in the order of the parameters.

        Raises:
            TypeError: it is no list of specs, or does not fit the parameters.
        """
        self._name = getattr(function, "__name__", type(function).__name__)
        self._declaration = Declaration(self._name, "its input_signature")
        _check_specs(declared)
        self._declared = tuple(declared)
        signature = signature_of(function)
        if signature is None:
            raise TypeError(
                f"The parameters of {self._name} cannot be read, so input_signature cannot be given to them. Wrap "
                "it in a function of yours: tf.function(lambda x: f(x), input_signature=[...])."
            )
        self.specs: dict[str, Nested] = {}
        self._defaults: dict[str, Nested] = {}
        self._rest: tuple[str, ...] = ()
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        self._self = [p for p in parameters[:1] if p.name == "self"]
        left = list(self._declared)
        for parameter in parameters[len(self._self) :]:
            self._declare(parameter, left)
        if left:
            raise TypeError(
                f"input_signature contains {len(left)} more specs than {self._name}{signature} has parameters: "
                f"{', '.join(map(repr, left))}. Give one for each parameter, in order."
            )
        # Without **kwargs, which nothing is declared for.
        self._signature = signature.replace(parameters=parameters)

    def _declare(self, parameter: inspect.Parameter, left: list[Nested]) -> None:
        name = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL:
            self._rest = tuple(f"{name}_{index}" for index in range(len(left)))
            self.specs |= zip(self._rest, left, strict=True)
            left.clear()
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise TypeError(
                f"{self._name} has an input_signature, so its keyword-only parameter {name!r} needs a default."
            )
        elif left:
            self.specs[name] = left.pop(0)
        elif parameter.default is not parameter.empty:
            self._defaults[name] = parameter.default
        else:
            raise TypeError(
                f"input_signature has no spec for the parameter {name!r} of {self._name}. Add one: "
                "input_signature=[..., tf.TensorSpec(shape, dtype)]."
            )

    def bind(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> Call:
        """Checks the arguments of a call, and converts them to what is declared.

        Args:
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            Positional and keyword arguments, in one form for all calls.

        Raises:
            TypeError: they do not fit, and which does not.
        """
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. {self._name} is called as {self}."
            ) from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                if len(value) != len(self._rest):
                    raise TypeError(
                        f"{self._name} takes {len(self._rest)} values for *{name}, by its input_signature, but got "
                        f"{len(value)}. It is called as {self}."
                    )
                bound.arguments[name] = tuple(
                    self._declaration.fit(self.specs[each], one, each)
                    for each, one in zip(self._rest, value, strict=True)
                )
            elif name in self.specs:
                bound.arguments[name] = self._declaration.fit(self.specs[name], value, name)
            elif name in self._defaults and not is_same(value, self._defaults[name]):
                raise TypeError(
                    f"{self._name} has no spec for {name!r} in its input_signature, so {name} is always its default "
                    f"{self._defaults[name]!r}, but got {value!r}. Add a tf.TensorSpec for it, or leave it out."
                )
        return bound.args, bound.kwargs

    def placeholders(self) -> tuple[Nested, ...]:
        """Returns the specs, for a call without arguments that only describes them."""
        return self._declared

    def __str__(self) -> str:
        shown = [
            *(p.name for p in self._self),
            *(f"{name}: {spec}" for name, spec in self.specs.items()),
        ]
        return f"({', '.join([*shown, *(f'{name}={value!r}' for name, value in self._defaults.items())])})"


def _check_specs(declared: Any) -> None:
    if not isinstance(declared, (tuple, list)):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(declared)}. Write "
            "input_signature=[tf.TensorSpec(shape, dtype)]."
        )
    for spec in leaves_of(declared):
        if not isinstance(spec, SPECS):
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                f"{spec!r} of type {type(spec).__name__}. Write tf.TensorSpec(shape, dtype)."
            )
