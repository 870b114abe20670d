"""Which operations get another form on a processor, and the pass that gives it to them."""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr

from spmd.lowering.convolution import Convolution, size
from spmd.lowering.depthwise import (
    depthwise,
    depthwise_input_gradient,
    depthwise_kernel_gradient,
)
from spmd.lowering.few_channels import few_channels, few_channels_kernel_gradient
from spmd.lowering.memory import keep_freed_memory
from spmd.lowering.pointwise import pointwise, pointwise_kernel_gradient
from spmd.lowering.pooling import Pooling, max_pool_gradient

# A form takes part in code once for each position of the window; a larger window would make much code.
_MAX_WINDOW = 49

# Rows of the matrix that the copies of an image with few channels make; with more, XLA is as good.
_MAX_COPIES = 32

_MIN_OUTPUTS = 8

Form = Callable[..., jax.Array]


def lowered(program: ClosedJaxpr, platform: str) -> ClosedJaxpr:
    """Prepares a program for the devices that it is compiled for.

    Args:
        program: a traced program.
        platform: of the devices, such as `"cpu"`.

    Returns:
        `for_cpu` of the program for processors, unless `JAXTRIBUTE_CPU_LOWERINGS=0` stands in the
        environment, and the program itself otherwise.

    Examples:
        >>> import jax
        >>> program = jax.make_jaxpr(lambda x: x + 1)(1.0)
        >>> lowered(program, "gpu") is program
        True
    """
    if platform != "cpu" or os.environ.get("JAXTRIBUTE_CPU_LOWERINGS") == "0":
        return program
    keep_freed_memory()
    return for_cpu(program)


def for_cpu(program: ClosedJaxpr) -> ClosedJaxpr:
    """Gives operations of a program the forms that are faster on a processor.

    Looks into loops, branches and called functions as well. Results are XLA's own, bit for bit for pooling, but
    for the order of sums in convolutions.

    Args:
        program: a traced program.

    Returns:
        A program with the same inputs and outputs.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> image, kernel = jnp.ones((1, 4, 4, 8)), jnp.ones((1, 1, 8, 2))
        >>> def convolve(image, kernel):
        ...     return jax.lax.conv_general_dilated(
        ...         image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ...     )
        >>> program = jax.make_jaxpr(convolve)(image, kernel)
        >>> [equation.params["name"] for equation in for_cpu(program).eqns]
        ['pointwise']
    """
    return program.replace(jaxpr=_rewritten(program.jaxpr, {}))


def _rewritten(jaxpr: Jaxpr, made: dict[Any, Any]) -> Jaxpr:
    return jaxpr.replace(eqns=[_equation(equation, made) for equation in jaxpr.eqns])


def _equation(equation: Any, made: dict[Any, Any]) -> Any:
    chosen = _choose(equation)
    if chosen is None:
        params = {key: _opened(value, made) for key, value in equation.params.items()}
        return equation.replace(params=params)
    form, geometry = chosen
    operands = [
        jax.ShapeDtypeStruct(variable.aval.shape, variable.aval.dtype)
        for variable in equation.invars
    ]
    key = (form, geometry, *operands)
    if key not in made:

        def call(*values: jax.Array) -> jax.Array:
            return form(geometry, *values)

        call.__name__ = call.__qualname__ = form.__name__
        (made[key],) = jax.make_jaxpr(jax.jit(call))(*operands).eqns
    return made[key].replace(
        invars=equation.invars, outvars=equation.outvars, source_info=equation.source_info
    )


def _opened(value: Any, made: dict[Any, Any]) -> Any:
    """Does the same to the programs among an operation's parameters: bodies of loops, branches."""
    if isinstance(value, Jaxpr):
        return _rewritten(value, made)
    if isinstance(value, ClosedJaxpr):
        return value.replace(jaxpr=_rewritten(value.jaxpr, made))
    if type(value) is tuple:  # a named tuple is an option, such as a gather's dimension numbers
        return tuple(_opened(item, made) for item in value)
    return value


def _choose(equation: Any) -> tuple[Form, Any] | None:
    """Chooses a form by the shapes of an operation; None leaves it to XLA."""
    if equation.primitive.name == "conv_general_dilated":
        return _for_convolution(equation)
    if equation.primitive.name == "select_and_scatter_add":
        geometry = Pooling.of(equation)
        few = size(geometry.window) <= _MAX_WINDOW and 0 not in equation.invars[0].aval.shape
        if few and _is_real(geometry.dtype):
            return max_pool_gradient, geometry
    return None


def _for_convolution(equation: Any) -> tuple[Form, Convolution] | None:
    operands = [variable.aval for variable in equation.invars]
    conv = Convolution.of(equation)
    if (
        not _is_real(conv.dtype)
        or any(operand.dtype != conv.dtype for operand in operands)
        or 0 in (*operands[0].shape, *operands[1].shape, *conv.out_spatial)
    ):
        return None
    form = _grouped(conv) if conv.groups > 1 else _ungrouped(conv)
    return form and (form, conv)


def _grouped(conv: Convolution) -> Form | None:
    if conv.batch_groups > 1:
        each_has_own = conv.batch_groups == conv.lhs_shape[0]
        small = size(conv.out_spatial) <= _MAX_WINDOW and size(conv.lhs_dilation) == 1
        return depthwise_kernel_gradient if each_has_own and small else None
    if conv.feature_groups != conv.lhs_shape[-1] or size(conv.window) > _MAX_WINDOW:
        return None
    if size(conv.lhs_dilation) == 1:
        return depthwise
    return depthwise_input_gradient if size(conv.strides) == 1 else None


def _ungrouped(conv: Convolution) -> Form | None:
    strided, is_dilated = size(conv.strides) > 1, size(conv.lhs_dilation) > 1
    if size(conv.window) == 1:
        return None if strided and is_dilated else pointwise
    if is_dilated:
        return None
    if size(conv.out_spatial) == 1:
        return pointwise_kernel_gradient
    if conv.lhs_shape[-1] * size(conv.window) <= _MAX_COPIES:
        # The outputs are what is computed side by side.
        many = conv.rhs_shape[-1] >= _MIN_OUTPUTS
        return few_channels if conv.lhs_shape[-1] == 1 and many else None
    copies = conv.lhs_shape[0] * size(conv.out_spatial)
    is_gradient = size(conv.out_spatial) < size(conv.window)
    return few_channels_kernel_gradient if is_gradient and copies <= _MAX_COPIES else None


def _is_real(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.floating)
