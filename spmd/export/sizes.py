"""Open sizes that a function itself decides: what JAX has to know of them to trace it.

`x @ kernel` with a kernel of nine rows works for arrays of nine columns only, whatever the specification of `x` leaves open.
TensorFlow finds out when the program runs. JAX asks while it traces, so that its answer stands in the error.
"""

import re
from collections.abc import Iterator, Sequence

_REMAINDER = re.compile(r"remainder (mod\(.*\)) should be 0")
_SHAPE = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
_LINEAR = re.compile(r"(?:(\d+)\*)?([a-z]\w*)(?: ([+-]) (\d+))?")


def constraint_in(error: Exception) -> str | None:
    """Returns what has to hold for the function to go on, as `jax.export.symbolic_shape` takes it; None if that is not known.

    Args:
        error: raised while a function was traced with symbolic sizes.

    Examples:
        >>> constraint_in(
        ...     ValueError("Incompatible shapes for broadcasting: shapes=[(rows, 2*d0 + 3), (9,)]")
        ... )
        'd0 == 3'
        >>> constraint_in(ValueError("... The remainder mod(d0*rows, - 784) should be 0."))
        'mod(d0*rows, -784) == 0'
        >>> constraint_in(ValueError("Incompatible shapes for broadcasting: shapes=[(2, 3), (9,)]"))
    """
    text = str(error)
    remainder = _REMAINDER.search(text)
    if remainder is not None:
        return f"{remainder[1].replace('- ', '-')} == 0"
    for kind in (
        "ncompatible shapes for broadcasting",
        "contracting dimensions",
        "batch dimensions",
    ):
        start = text.find(kind)
        if start >= 0:
            shapes = [_sizes(match[1]) for match in _SHAPE.finditer(text, start)]
            return next(_equalities(shapes), None)
    return None


def _sizes(text: str) -> list[str]:
    return [size.strip() for size in re.split(r",(?![^(]*\))", text) if size.strip()]


def _equalities(shapes: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields what makes the last axes of shapes equal, where one is open and another is not."""
    for sizes in zip(*(reversed(shape) for shape in shapes[:2]), strict=False):
        given = [int(size) for size in sizes if size.isdigit() and size != "1"]
        opened = [match for size in sizes if (match := _LINEAR.fullmatch(size)) is not None]
        if given and opened:
            factor, name, sign, added = opened[0].groups()
            rest = given[0] - int(f"{sign or ''}{added or 0}")
            size, remainder = divmod(rest, int(factor or 1))
            if size > 0 and not remainder:
                yield f"{name} == {size}"
