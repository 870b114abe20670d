"""The pass that replaces operations for which XLA makes code slowly, or slow or wrong code, on a processor, and what it replaces."""

import dataclasses
import math
import os
from collections.abc import Callable, Hashable
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.typing import DTypeLike

from spmd._jax_internals import aval_of
from spmd.lowering.convolution import Convolution
from spmd.lowering.cut import may_read_outside, padded_first
from spmd.lowering.depthwise import depthwise, depthwise_input_gradient, depthwise_kernel_gradient
from spmd.lowering.even_channels import even_channels, lacks_a_channel
from spmd.lowering.few_channels import (
    MAX_TERMS,
    few_channels_kernel_gradient,
    one_channel,
    pairs_of_pixels,
)
from spmd.lowering.grouped import grouped, grouped_kernel_gradient, together_in
from spmd.lowering.kernel_gradients import exchanged_kernel_gradient, small_batch_kernel_gradient
from spmd.lowering.layouts import with_plain_layouts
from spmd.lowering.memory import keep_freed_memory
from spmd.lowering.pointwise import pointwise, pointwise_kernel_gradient
from spmd.lowering.pooling import Pooling, max_pool_gradient
from spmd.lowering.products import direct_products
from spmd.lowering.random_bits import RandomBits, can_be_flat, flat_random_bits
from spmd.lowering.recomputation import bound_recomputation
from spmd.lowering.row_updates import with_row_updates
from spmd.lowering.spectral import (
    spectral_convolution,
    spectral_kernel_gradient,
    spectral_work,
)
from spmd.lowering.substitution import Substitution, described, in_place_of, tracks_devices
from spmd.lowering.transposed import transposed_kernel_gradient
from spmd.lowering.volumes import by_layers, kernel_gradient_by_layers

# A rewrite emits code for each position of the window; a larger window would make too much.
_MAX_WINDOW = 49

# Rows of the matrix that the copies of an image with few channels make; with more, XLA is as good.
_MAX_COPIES = 32

# Numbers in the copies for a product in place of a kernel gradient: 256 MB.
_MAX_COPIED = 2**26

# Pixels in a row or column of what is transformed: rounding errors grow with their number.
_MAX_PIXELS = 40


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """How large an operation must be for a rewrite to pay, as measured by `tests/benchmarks/lowerings.py`.

    Work is counted in multiplications.

    Attributes:
        work: for any rewrite that is there for speed: below it XLA's operation, too, takes microseconds.
        sum_of_products: for the kernel gradient of a pointwise convolution.
        product: for a pointwise convolution, since a matrix product starts several threads.
        channels: in and out, for a pointwise convolution.
        outputs: of a convolution of one channel or a few, which are computed side by side.
        side: outputs and batch for its kernel gradient; XLA does well below.
        copied: work of its kernel gradient, likewise.
        outputs_for_copy: with which each copy has to be multiplied there; with fewer it takes longer to make.
        transformed: for transforms of a convolution.
        gain: work of a convolution, as a multiple of that of its transforms.
        kernel_gain: likewise, of a kernel gradient.
        images: the fewest in a batch, for transforms.
        pixels: of all images, for each pair of channels in and out, likewise.
        few_outputs: of a kernel gradient: with fewer it changes places with the input.
        small_batch: the most images for a product of shifted copies as a kernel gradient.
        small_outputs: the most outputs for which libraries are slow, there and for pairs of pixels.
        pair_work: work of a convolution of a few channels to no more than `small_outputs` features.
    """

    work: int = 2**16
    sum_of_products: int = 2**18
    product: int = 2**24
    channels: int = 16
    outputs: int = 8
    side: int = 32
    copied: int = 2**23
    outputs_for_copy: float = 2
    transformed: int = 2**25
    gain: float = 3.5
    kernel_gain: float = 1.6
    images: int = 32
    pixels: float = 1 / 12
    few_outputs: int = 8
    small_batch: int = 4
    small_outputs: int = 16
    pair_work: int = 2**22


Rewrite: TypeAlias = Callable[..., jax.Array]
_MADE_OF_CONVOLUTIONS: frozenset[Rewrite] = frozenset(
    {
        grouped,
        grouped_kernel_gradient,
        by_layers,
        kernel_gradient_by_layers,
        transposed_kernel_gradient,
        exchanged_kernel_gradient,
        padded_first,
    }
)
Geometry: TypeAlias = Convolution | Pooling | RandomBits


def lowered(program: ClosedJaxpr, platform: str) -> ClosedJaxpr:
    """Prepares a program, and the process's memory, for the devices that the program is compiled for.

    Args:
        program: a traced program.
        platform: of the devices, such as `"cpu"`.

    Returns:
        For processors the program after `with_row_updates`, `for_cpu`, `with_plain_layouts`, `direct_products` and `bound_recomputation`, unless
        `JAXTRIBUTE_CPU_LOWERINGS=0` stands in the environment; otherwise the program itself.

    Examples:
        >>> import jax
        >>> program = jax.make_jaxpr(lambda x: x + 1)(1.0)
        >>> lowered(program, "gpu") is program
        True
    """
    if platform != "cpu":
        return program
    keep_freed_memory()
    if os.environ.get("JAXTRIBUTE_CPU_LOWERINGS") == "0":
        return program
    by_rows = with_row_updates(program)
    return bound_recomputation(direct_products(with_plain_layouts(for_cpu(by_rows))))


def for_cpu(program: ClosedJaxpr, thresholds: Thresholds = Thresholds()) -> ClosedJaxpr:
    """Replaces operations of a program with rewrites that are faster on a processor.

    Looks into loops, branches and called functions as well. Results are XLA's, bit for bit for
    pooling and random numbers, and up to the order of sums, or the rounding of transforms, for convolutions of finite numbers; where
    XLA would read outside of an array, they are right.

    Args:
        program: a traced program.
        thresholds: how large an operation must be.

    Returns:
        A program with the same inputs and outputs.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> image, kernel = jnp.ones((64, 16, 16, 32)), jnp.ones((1, 1, 32, 64))
        >>> def convolve(image, kernel):
        ...     return jax.lax.conv_general_dilated(
        ...         image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ...     )
        >>> program = jax.make_jaxpr(convolve)(image, kernel)
        >>> [equation.params["name"] for equation in for_cpu(program).eqns]
        ['pointwise']
    """
    # Operations of the same shapes share their code.
    made: dict[Hashable, JaxprEqn] = {}

    def rewritten(jaxpr: Jaxpr, equation: JaxprEqn) -> JaxprEqn | None:
        del jaxpr
        if tracks_devices(equation):
            return equation
        chosen = _choose(equation, thresholds)
        if chosen is None:
            return None
        operands = described(equation.invars)
        key = (*chosen, *operands)
        if key not in made:
            made_of = jax.make_jaxpr(_named(*chosen))(*operands).jaxpr
            if chosen[0] in _MADE_OF_CONVOLUTIONS:  # which are rewritten in turn
                made_of = Substitution(rewritten).jaxpr(made_of)
            (made[key],) = made_of.eqns
        return in_place_of(equation, made[key])

    return program.replace(jaxpr=Substitution(rewritten).jaxpr(program.jaxpr))


def _named(rewrite: Rewrite, geometry: Geometry) -> Rewrite:
    """Wraps a rewrite in a call that carries its name into profiles."""

    def call(*operands: jax.Array) -> jax.Array:
        return rewrite(geometry, *operands)

    call.__name__ = call.__qualname__ = rewrite.__name__
    return jax.jit(call)


def _choose(equation: JaxprEqn, thresholds: Thresholds) -> tuple[Rewrite, Geometry] | None:
    """Chooses a rewrite by the shapes of an operation; None leaves it to XLA."""
    if equation.primitive.name == "select_and_scatter_add":
        pooling = Pooling.of(equation)
        is_empty = aval_of(equation.invars[0]).size == 0
        if is_empty or math.prod(pooling.window) > _MAX_WINDOW or not _is_real(pooling.dtype):
            return None
        return max_pool_gradient, pooling
    if equation.primitive.name == "random_bits":
        return (flat_random_bits, RandomBits.of(equation)) if can_be_flat(equation) else None
    if equation.primitive.name != "conv_general_dilated":
        return None
    conv = Convolution.of(equation)
    if may_read_outside(conv):
        return padded_first, conv
    if (
        conv.work < max(thresholds.work, 1)
        or not _is_real(conv.dtype)
        or any(operand.dtype != conv.dtype for operand in map(aval_of, equation.invars))
    ):
        return None
    is_grouped = max(conv.feature_groups, conv.batch_groups) > 1
    rewrite = _grouped(conv) if is_grouped else _ungrouped(conv, thresholds)
    return rewrite and (rewrite, conv)


def _grouped(conv: Convolution) -> Rewrite | None:
    if conv.batch_groups > 1:
        each_has_own = conv.batch_groups == conv.lhs_shape[0]
        small = math.prod(conv.out_spatial) <= _MAX_WINDOW and math.prod(conv.lhs_dilation) == 1
        if not each_has_own:
            return grouped_kernel_gradient
        return depthwise_kernel_gradient if small else None
    if conv.feature_groups != conv.lhs_shape[-1]:
        return None if together_in(conv) is None else grouped
    if math.prod(conv.window) > _MAX_WINDOW:
        return None
    if math.prod(conv.lhs_dilation) == 1:
        return depthwise
    return depthwise_input_gradient if math.prod(conv.strides) == 1 else None


def _ungrouped(conv: Convolution, thresholds: Thresholds) -> Rewrite | None:
    is_gradient, is_dilated = conv.is_kernel_gradient, math.prod(conv.lhs_dilation) > 1
    channels, outputs = conv.rhs_shape[-2:]
    if math.prod(conv.window) == 1:
        large = conv.work >= thresholds.product and min(channels, outputs) >= thresholds.channels
        is_resized = is_dilated and math.prod(conv.strides) > 1
        return pointwise if large and not is_resized else None
    if is_dilated and is_gradient:
        return transposed_kernel_gradient if conv.is_unit_spaced else None
    if conv.rank == 3:
        return kernel_gradient_by_layers if is_gradient else by_layers
    if is_dilated:
        return None
    if math.prod(conv.out_spatial) == 1:
        return pointwise_kernel_gradient if conv.work >= thresholds.sum_of_products else None
    if channels == 1 and math.prod(conv.window) <= MAX_TERMS:
        return one_channel if outputs >= thresholds.outputs else None
    copies = conv.lhs_shape[0] * math.prod(conv.out_spatial)
    few = copies <= min(_MAX_COPIES, outputs / thresholds.outputs_for_copy)
    many = min(channels, outputs) >= thresholds.side and conv.work >= thresholds.copied
    if is_gradient and few:
        if many:
            return few_channels_kernel_gradient
    elif _pays_by_transforms(conv, is_gradient, thresholds):
        return spectral_kernel_gradient if is_gradient else spectral_convolution
    if is_gradient:
        special = _special_kernel_gradient(conv, thresholds)
    else:
        special = pairs_of_pixels if _pays_by_pairs(conv, thresholds) else None
    return special or (even_channels if conv.rank == 2 and lacks_a_channel(conv) else None)


def _pays_by_pairs(conv: Convolution, thresholds: Thresholds) -> bool:
    channels, outputs = conv.rhs_shape[-2:]
    return (
        conv.rank == 2
        and math.prod(conv.rhs_dilation) == 1
        and conv.out_spatial[1] % 2 == 0
        and conv.work >= thresholds.pair_work
        and 2 <= channels <= 4
        and thresholds.outputs <= outputs <= thresholds.small_outputs
        # The wider kernel has that many zeros for each column.
        and 2 * conv.strides[1] <= conv.window[1]
    )


def _special_kernel_gradient(conv: Convolution, thresholds: Thresholds) -> Rewrite | None:
    if conv.rank != 2 or not conv.is_unit_spaced:
        return None
    channels, (batch, outputs) = conv.lhs_shape[0], conv.rhs_shape[-2:]
    if outputs < min(thresholds.few_outputs, channels):
        return exchanged_kernel_gradient
    copied = conv.out_spatial[1] * math.prod(conv.lhs_shape)
    copied += conv.out_spatial[0] * math.prod(conv.rhs_shape)
    pays = (
        batch <= thresholds.small_batch
        and channels >= thresholds.few_outputs
        and outputs <= thresholds.small_outputs
        and copied <= _MAX_COPIED
    )
    return small_batch_kernel_gradient if pays else None


def _pays_by_transforms(conv: Convolution, is_gradient: bool, thresholds: Thresholds) -> bool:
    """Tells whether XLA takes longer for a convolution, or for the gradient by a kernel, than transforms do."""
    if conv.rank != 2 or not conv.is_unit_spaced:
        return False
    is_cut = any(low < 0 for low, _ in conv.padding)
    if is_cut or max(*conv.lhs_shape[1:-1], *conv.window) > _MAX_PIXELS:
        return False
    batch, (features, outputs) = conv.lhs_shape[0], conv.rhs_shape[-2:]
    if is_gradient:
        images, pixels, channels = features, math.prod(conv.window), batch
    else:
        images, pixels, channels = batch, math.prod(conv.out_spatial), features
    gain = thresholds.kernel_gain if is_gradient else thresholds.gain
    return (
        conv.work >= thresholds.transformed
        and conv.work >= gain * spectral_work(conv)
        and images >= thresholds.images
        and images * pixels >= thresholds.pixels * channels * outputs
    )


def _is_real(dtype: DTypeLike) -> bool:
    return jnp.issubdtype(dtype, jnp.floating)
