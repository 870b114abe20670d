"""The library that computes a program's convolutions of pictures on a processor.

jaxlib 0.10 gives them to YNNPACK, which shares out the features of the result among threads, 64 to each: what has no more is
computed by one thread. Eigen, to which XLA gave them before, shares out the pixels. The YNNPACK of jaxlib 0.12 does so, too.
"""

import math
import os
from collections.abc import Iterator

import jaxlib.version
from jax.extend.core import ClosedJaxpr, Jaxpr

from spmd.lowering.convolution import Convolution

# What stays with YNNPACK: all that it computes by default, but convolutions.
_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_EIGEN = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"

# Features that YNNPACK gives to one thread. With fewer than `_FEW` Eigen takes `_TIMES` as long.
_BLOCK, _FEW, _TIMES = 64, 8, 4

# For what the estimate leaves out.
_MARGIN = 1.05


def library_options(program: ClosedJaxpr, platform: str, threads: int) -> dict[str, str]:
    """Chooses the library for a program's convolutions, by their shapes.

    Args:
        program: what XLA will compile, so after the rewrites.
        platform: of the devices, such as `"cpu"`.
        threads: how many compute for one device.

    Returns:
        Options for XLA; none where its own choice is as good, if `XLA_FLAGS` has that option, and with
        `JAXTRIBUTE_CPU_LOWERINGS=0`.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> program = jax.make_jaxpr(lambda x: x @ x)(jnp.ones((64, 64)))
        >>> library_options(program, "cpu", 2)  # it has no convolution
        {}
    """
    if (
        platform != "cpu"
        or threads < 2
        or not jaxlib.version.__version__.startswith("0.10.")
        or os.environ.get("JAXTRIBUTE_CPU_LOWERINGS") == "0"
        or _OPTION in os.environ.get("XLA_FLAGS", "")
    ):
        return {}
    by_ynnpack = by_eigen = 0.0
    for conv, times in _convolutions_of_pictures(program.jaxpr):
        features, outputs = conv.rhs_shape[-2:]
        blocks = math.ceil(math.ceil(outputs / _BLOCK) / threads)  # of the busiest thread
        work = conv.work * times
        by_ynnpack += work * min(1, blocks * _BLOCK / outputs)
        by_eigen += work / threads * (_TIMES if min(features, outputs) < _FEW else 1)
    return {_OPTION: _EIGEN} if by_ynnpack > _MARGIN * by_eigen else {}


def threads_of_device(devices: int, *, spans_processes: bool) -> int:
    """Tells how many threads compute for one device of this process.

    Args:
        devices: of this process.
        spans_processes: whether other processes run the same program. All of them have to compile it alike, so their
            hosts' cores do not count.

    Examples:
        >>> threads_of_device(2, spans_processes=True)
        2
    """
    return 2 if spans_processes else cores() // max(devices, 1)


def cores() -> int:
    """Counts the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _convolutions_of_pictures(jaxpr: Jaxpr, times: int = 1) -> Iterator[tuple[Convolution, int]]:
    """Finds what YNNPACK would compute, and how often: it takes nothing whose left operand is dilated."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "conv_general_dilated":
            conv = Convolution.of(equation)
            is_grouped = max(conv.feature_groups, conv.batch_groups) > 1  # few are left in groups
            if (
                conv.rank == 2
                and conv.work
                and not is_grouped
                and math.prod(conv.lhs_dilation) == 1
            ):
                yield conv, times
            continue
        turns = times * equation.params["length"] if equation.primitive.name == "scan" else times
        for value in equation.params.values():
            for part in value if type(value) is tuple else (value,):
                if isinstance(part, ClosedJaxpr | Jaxpr):
                    inner = part.jaxpr if isinstance(part, ClosedJaxpr) else part
                    yield from _convolutions_of_pictures(inner, turns)
