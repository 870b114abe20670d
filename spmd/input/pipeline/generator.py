"""Elements from Python code: what a generator yields, checked against what was declared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from spmd.input.pipeline.element import Component, Element, is_stackable, owned, to_element
from spmd.input.pipeline.forms import found_spec
from spmd.input.pipeline.spec import ArraySpec, PartialShape, Specs
from spmd.input.pipeline.stream import Stream, ready
from spmd.typing import ArrayLike, PyTree


def generated(
    generator: Callable[..., Iterable[object]], args: tuple[Any, ...], signature: Specs | None
) -> Stream:
    """Returns what a generator function yields; every pass calls it.

    Reading raises TypeError where an element's structure, or a component's type, is not the declared one, and
    ValueError where a component's shape is not. Arrays are copied, since a generator may refill the same one
    for every element.

    Args:
        generator: Returns an iterable.
        args: Its arguments.
        signature: The specs of an element, or None to take what comes.
    """

    def open_pass() -> Iterator[Element]:
        for value in generator(*args):
            yield owned(to_element(value)) if signature is None else _convert(value, signature, "")

    form = ready(open_pass, found_spec(lambda: form) if signature is None else lambda: signature)
    return form


def _convert(value: PyTree, spec: Specs, path: str) -> Element:
    if isinstance(spec, Mapping):
        if not isinstance(value, Mapping) or set(value) != set(spec):
            raise _structure_error(value, spec, path)
        return {key: _convert(value[key], spec[key], f"{path}[{key!r}]") for key in spec}
    if isinstance(spec, tuple):
        if not isinstance(value, tuple | list) or len(value) != len(spec):
            raise _structure_error(value, spec, path)
        items = [
            _convert(*pair, f"{path}[{number}]")
            for number, pair in enumerate(zip(value, spec, strict=True))
        ]
        return type(spec)(*items) if hasattr(spec, "_fields") else tuple(items)
    return _convert_component(value, spec, path or "the element")


def _convert_component(value: ArrayLike, spec: ArraySpec, name: str) -> Component:
    if is_stackable(value):
        return value
    if isinstance(value, str | bytes):
        component = np.asarray(to_element(value))
        if spec.dtype.kind not in "OUS":
            raise TypeError(
                f"from_generator: expected {spec.dtype} for {name}, got {value!r}.\n"
                "Fix: declare the dtype str (or bytes) in output_signature."
            )
    else:
        try:
            component = np.array(value, dtype=spec.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"from_generator: expected {spec.dtype} for {name}, got {value!r}.\n"
                "Fix: declare in output_signature what the generator yields."
            ) from error
    if not _matches(component.shape, spec.shape):
        raise ValueError(
            f"from_generator: expected shape {spec.shape} for {name}, got {component.shape}.\n"
            "Fix: the shape in output_signature, with None for sizes that vary."
        )
    return component[()]


def _matches(shape: tuple[int, ...], declared: PartialShape) -> bool:
    if declared is None:
        return True
    return len(shape) == len(declared) and all(
        want is None or want == size for size, want in zip(shape, declared, strict=True)
    )


def _structure_error(value: PyTree, spec: Specs, path: str) -> TypeError:
    return TypeError(
        f"from_generator: expected the structure {spec} for {path or 'the element'}, got "
        f"{value!r}.\nFix: yield what output_signature declares."
    )
