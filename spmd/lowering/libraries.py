"""The library that computes a program's convolutions of pictures on a processor.

jaxlib 0.10 gives them to YNNPACK, which shares out the features of the result among threads, 64 to each: what has no more is
computed by one thread. Eigen, to which XLA gave them before, shares out the pixels. Newer releases of YNNPACK do so, too.
"""

import math
import os
from collections.abc import Iterator
from importlib.metadata import version

from jax.extend.core import ClosedJaxpr, Jaxpr

from spmd.lowering.convolution import Convolution
from spmd.lowering.layouts import SEPARATE

# Lists what YNNPACK computes: sums only.
_EIGEN = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE"}

# Features that YNNPACK gives to a thread; and those below which Eigen takes several times as long.
_BLOCK, _FEW, _TIMES = 64, 8, 4

# What is gained has to be more than what was not foreseen.
_GAIN = 1.05


def library_options(
    program: ClosedJaxpr | Jaxpr, platform: str, threads: int, release: str = version("jaxlib")
) -> dict[str, str]:
    """Chooses the library for a program's convolutions, by their shapes.

    Args:
        program: a traced program.
        platform: of the devices, such as `"cpu"`.
        threads: how many compute for one device.
        release: of jaxlib.

    Returns:
        Options for XLA; none where its own choice is as good, or `JAXTRIBUTE_CPU_LOWERINGS=0` stands in the environment.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> def convolve(images, kernel):
        ...     return jax.lax.conv_general_dilated(
        ...         images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ...     )
        >>> program = jax.make_jaxpr(convolve)(jnp.ones((8, 32, 32, 16)), jnp.ones((3, 3, 16, 32)))
        >>> library_options(program, "cpu", 2, "0.10.2")
        {'xla_cpu_experimental_ynn_fusion_type': 'LIBRARY_FUSION_TYPE_REDUCE'}
        >>> library_options(program, "cpu", 1, "0.10.2")
        {}
    """
    is_left_to_xla = os.environ.get("JAXTRIBUTE_CPU_LOWERINGS") == "0"
    if platform != "cpu" or threads < 2 or not release.startswith("0.10.") or is_left_to_xla:
        return {}
    by_ynnpack = by_eigen = 0.0
    for conv in _convolutions_of_pictures(_opened(program)):
        features, outputs = conv.rhs_shape[-2:]
        blocks = math.ceil(math.ceil(outputs / _BLOCK) / threads)  # of the busiest thread
        by_ynnpack += conv.work * min(1, blocks * _BLOCK / outputs)
        by_eigen += conv.work / threads * (_TIMES if min(features, outputs) < _FEW else 1)
    return dict(_EIGEN) if by_ynnpack > _GAIN * by_eigen else {}


def _convolutions_of_pictures(jaxpr: Jaxpr) -> Iterator[Convolution]:
    """Finds what YNNPACK would compute: XLA does not give it what stands in loops, nor what is dilated or in groups."""
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "conv_general_dilated":
            conv = Convolution.of(equation)
            is_grouped = max(conv.feature_groups, conv.batch_groups) > 1
            if conv.rank == 2 and not is_grouped and math.prod(conv.lhs_dilation) == 1:
                yield conv
        elif name not in SEPARATE:
            for value in equation.params.values():
                for part in value if type(value) is tuple else (value,):
                    if isinstance(part, ClosedJaxpr | Jaxpr):
                        yield from _convolutions_of_pictures(_opened(part))


def _opened(program: ClosedJaxpr | Jaxpr) -> Jaxpr:
    return program.jaxpr if isinstance(program, ClosedJaxpr) else program
