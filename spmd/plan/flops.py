"""Counts the arithmetic of a program as it was written, before any compiler changed it.

*Products* are matrix products and convolutions, counted exactly: a multiplication and an addition are two operations, and
what a convolution multiplies with its padding is not counted. *Elementwise* is the rest, one operation for each element.

XLA counts the body of a loop once, however often it runs; this counts it as often as it runs.
"""

import collections
import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

# What moves or makes numbers without arithmetic; collectives travel, which is counted elsewhere.
_MOVES = frozenset(
    [
        "broadcast_in_dim",
        "reshape",
        "transpose",
        "squeeze",
        "expand_dims",
        "slice",
        "dynamic_slice",
        "dynamic_update_slice",
        "gather",
        "concatenate",
        "pad",
        "rev",
        "iota",
        "copy",
        "copy_p",
        "convert_element_type",
        "bitcast_convert_type",
        "select_n",
        "device_put",
        "split",
        "stop_gradient",
        "psum",
        "psum_invariant",
        "pmax",
        "pmin",
        "all_gather",
        "all_gather_invariant",
        "all_to_all",
        "ppermute",
        "reduce_scatter",
        "psum_scatter",
        "axis_index",
        "pvary",
        "pcast",
        "optimization_barrier",
        "debug_callback",
        "io_callback",
        "pure_callback",
        "sharding_constraint",
        "random_wrap",
        "random_unwrap",
        "empty",
        "empty2",
        "ref_get",
        "ref_set",
        "name",
        "create_token",
    ]
)
# Reads all elements of its operand, for fewer results.
_REDUCES = ("reduce_", "arg", "cum")


@dataclasses.dataclass(frozen=True)
class Flops:
    """Operations of one execution of a program, on one device.

    Attributes:
        products: matrix products and convolutions, by the type of their operands.
        elementwise: all others, of floating-point numbers.
        notes: what was not counted exactly.
    """

    products: dict[str, float]
    elementwise: float
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Operations of all products."""
        return sum(self.products.values())


def count_flops(program: Jaxpr | ClosedJaxpr) -> Flops:
    """Counts the operations of a program.

    Args:
        program: of one device: what `jax.shard_map` maps, or a program that calls it, whose own part counts once.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> program = jax.make_jaxpr(lambda a, b: jnp.tanh(a @ b))(
        ...     jnp.ones((8, 16)), jnp.ones((16, 4))
        ... )
        >>> found = count_flops(program)
        >>> found.products, 2 * 8 * 16 * 4, found.elementwise
        ({'float32': 1024.0}, 1024, 32.0)
    """
    counter = _Counter()
    found = counter.of(_open(program))
    elementwise = found.pop("", 0.0)
    return Flops(found, elementwise, tuple(counter.notes))


class _Counter:
    """Counts by type; under `""` what is elementwise."""

    def __init__(self) -> None:
        self.notes: dict[str, None] = {}

    def of(self, jaxpr: Jaxpr) -> dict[str, float]:
        total: dict[str, float] = collections.defaultdict(float)
        for equation in jaxpr.eqns:
            for kind, count in self._equation(equation).items():
                total[kind] += count
        return dict(total)

    def _equation(self, equation: JaxprEqn) -> dict[str, float]:
        name, params = equation.primitive.name, equation.params
        if name == "dot_general":
            return {_dtype(equation): _dot(equation)}
        if name == "conv_general_dilated":
            return {_dtype(equation): _convolution(equation)}
        if name in ("ragged_dot", "ragged_dot_general"):
            return {_dtype(equation): _ragged(equation)}
        bodies = [self.of(body) for body in _bodies(params)]
        if not bodies:
            return {"": _elementwise(equation)}
        if name == "cond":
            return max(bodies, key=lambda body: sum(body.values()))
        total: dict[str, float] = collections.defaultdict(float)
        turns = self._turns(equation)
        for body in bodies:
            for kind, count in body.items():
                total[kind] += turns * count
        return dict(total)

    def _turns(self, equation: JaxprEqn) -> int:
        name, params = equation.primitive.name, equation.params
        if name == "scan":
            return int(params["length"])
        if name == "while":
            self.notes["A loop whose length depends on the data was counted as one turn."] = None
        if name == "pallas_call":
            return math.prod(side for side in params["grid_mapping"].grid if isinstance(side, int))
        return 1


def _dot(equation: JaxprEqn) -> float:
    (contracted, _), _ = equation.params["dimension_numbers"]
    shape = _shape(equation.invars[0])
    return 2.0 * math.prod(_shape(equation.outvars[0])) * math.prod(shape[i] for i in contracted)


def _ragged(equation: JaxprEqn) -> float:
    # Each row is multiplied with the matrix of one group.
    rows, groups = _shape(equation.invars[0]), _shape(equation.invars[1])
    return 2.0 * math.prod(rows) * groups[-1]


def _convolution(equation: JaxprEqn) -> float:
    params = equation.params
    numbers = params["dimension_numbers"]
    image, kernel = _shape(equation.invars[0]), _shape(equation.invars[1])
    out = _shape(equation.outvars[0])
    pairs = 1
    for i, (low, _) in enumerate(params["padding"]):
        pairs *= _pairs(
            image[numbers.lhs_spec[2 + i]],
            kernel[numbers.rhs_spec[2 + i]],
            out[numbers.out_spec[2 + i]],
            low,
            (
                params["window_strides"][i],
                params["lhs_dilation"][i],
                params["rhs_dilation"][i],
            ),
        )
    per_place = out[numbers.out_spec[0]] * out[numbers.out_spec[1]] * kernel[numbers.rhs_spec[1]]
    return 2.0 * per_place * pairs


def _pairs(image: int, kernel: int, out: int, low: int, steps: tuple[int, int, int]) -> int:
    """Counts the pairs of result and kernel element, along one dimension, that meet an element of the image."""
    stride, image_step, kernel_step = steps
    at = np.add.outer(np.arange(out) * stride - low, np.arange(kernel) * kernel_step)
    inside = (at >= 0) & (at <= (image - 1) * image_step) & (at % image_step == 0)
    return int(inside.sum())


def _elementwise(equation: JaxprEqn) -> float:
    name = equation.primitive.name
    if name in _MOVES or not equation.outvars:
        return 0.0
    variables = equation.invars if name.startswith(_REDUCES) else equation.outvars
    sizes = [math.prod(_shape(each)) for each in variables if _is_float(each)]
    return float(max(sizes, default=0))


def _is_float(variable: Any) -> bool:
    name = str(getattr(variable.aval, "dtype", ""))
    return "float" in name or "complex" in name


def _dtype(equation: JaxprEqn) -> str:
    return str(equation.invars[0].aval.dtype)  # type: ignore[attr-defined]


def _shape(variable: Any) -> tuple[int, ...]:
    return tuple(getattr(variable.aval, "shape", ()))


def _open(program: Jaxpr | ClosedJaxpr) -> Jaxpr:
    return program.jaxpr if isinstance(program, ClosedJaxpr) else program


def _bodies(params: dict[str, Any]) -> Iterator[Jaxpr]:
    # A function with a gradient of its own is counted by what it computes, not by the rules beside it.
    for value in params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, (Jaxpr, ClosedJaxpr)):
                yield _open(each)
