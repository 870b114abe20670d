"""The library that computes a program's convolutions of pictures, and its matrix products, on a processor.

XLA gives both to YNNPACK by default. Eigen, to which it gave both before, is faster for most convolutions of many features, and above all for
their kernel gradients; YNNPACK is faster for few features and small batches.

The YNNPACK of jaxlib 0.10 divides the features of a convolution among threads, 64 to each, so that one thread computes what has no more. It
computes many small products, as in attention, with one thread. Eigen divides the pixels, and each product. The YNNPACK of jaxlib
0.12 divides its work as well as that.
"""

import math
import os
from collections.abc import Iterator
from typing import NamedTuple

import jaxlib.version
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from spmd._jax_internals import aval_of, opened, programs_in
from spmd.lowering.convolution import Convolution

# What YNNPACK computes by default.
_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_CONVOLUTIONS, _PRODUCTS, _REDUCTIONS = (
    f"LIBRARY_FUSION_TYPE_{name}" for name in ("INDIVIDUAL_CONVOLUTION", "INDIVIDUAL_DOT", "REDUCE")
)

# The releases of jaxlib whose libraries were timed.
_TIMED = ("0.10.", "0.12.")

# Outputs that YNNPACK gives to one thread in jaxlib 0.10. With fewer channels or outputs than `_FEW` Eigen takes `_TIMES` as long.
_BLOCK, _FEW, _TIMES = 64, 8, 4

# YNNPACK's speed for a convolution, as a multiple of Eigen's: of no more outputs than a block, and of more.
_OF_A_BLOCK, _OF_MORE = 1.1, 0.9

# Likewise for a kernel gradient: of `_FEW // 2` images or more, but fewer than `_FEW`; and of more images. With few outputs it is that of a block.
_OF_FEW_IMAGES, _OF_MANY_IMAGES, _FEW_OUTPUTS = 1.4, 0.8, 32

# Multiplications in each of many products: from `_LARGE` on YNNPACK uses all threads; Eigen uses one more for each `_SHARE`.
_LARGE, _SHARE = 2**23, 2**19

# What a thread of Eigen's gains, if there are several for such a product; and multiplications that it takes to start with one.
_EFFICIENCY, _START = 0.65, 2**14

# Eigen's speed for a product of two matrices, as a multiple of YNNPACK's; and if the first one has no more than `_FEW_ROWS`.
_OF_TWO, _OF_FEW_ROWS, _FEW_ROWS = 0.95, 0.75, 128

# Multiplications that Eigen takes for each element of a second matrix that is transposed.
_TRANSPOSED = 100

# For what the estimates leave out.
_MARGIN = 1.05


class _Estimate(NamedTuple):
    """How long two libraries take, in multiplications of one thread of Eigen's."""

    ynnpack: float
    eigen: float


def library_options(program: ClosedJaxpr, platform: str, threads: int) -> dict[str, str]:
    """Chooses the libraries for a program's convolutions and for its matrix products, by their shapes.

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
        >>> library_options(program, "cpu", 2)  # either does well
        {}
    """
    if (
        platform != "cpu"
        or not jaxlib.version.__version__.startswith(_TIMED)
        or os.environ.get("JAXTRIBUTE_CPU_LOWERINGS") == "0"
        or _OPTION in os.environ.get("XLA_FLAGS", "")
    ):
        return {}
    estimates: dict[str, list[_Estimate]] = {_CONVOLUTIONS: [], _PRODUCTS: []}
    for equation, times in _operations(program.jaxpr):
        if equation.primitive.name == "dot_general":
            kind, estimate = _PRODUCTS, _of_product(equation, threads)
        else:
            kind, estimate = _CONVOLUTIONS, _of_convolution(Convolution.of(equation), threads)
        estimates[kind].append(_Estimate(*(times * cost for cost in estimate)))
    kept = [kind for kind, all_of_them in estimates.items() if not _is_slow(all_of_them)]
    return {} if len(kept) == len(estimates) else {_OPTION: ",".join([*kept, _REDUCTIONS])}


def is_jaxlib_0_10() -> bool:
    """Tells whether XLA is that of jaxlib 0.10, with its YNNPACK and its faults."""
    return jaxlib.version.__version__.startswith("0.10.")


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
    return 2 if spans_processes else max(1, cores() // max(devices, 1))


def cores() -> int:
    """Counts the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_slow(estimates: list[_Estimate]) -> bool:
    """Tells whether YNNPACK takes longer than Eigen for all operations of a kind."""
    return sum(one.ynnpack for one in estimates) > _MARGIN * sum(one.eigen for one in estimates)


def _of_convolution(conv: Convolution, threads: int) -> _Estimate:
    """Estimates a convolution. YNNPACK takes none whose left operand is dilated, and few are left in groups."""
    is_grouped = max(conv.feature_groups, conv.batch_groups) > 1
    if conv.rank != 2 or not conv.work or is_grouped or math.prod(conv.lhs_dilation) > 1:
        return _Estimate(0, 0)
    features, outputs = conv.rhs_shape[-2:]
    share = conv.work / threads
    of_busiest_thread = share
    if is_jaxlib_0_10():
        blocks = math.ceil(math.ceil(outputs / _BLOCK) / threads)
        of_busiest_thread = conv.work * min(1, blocks * _BLOCK / outputs)
    if conv.is_kernel_gradient and _FEW // 2 <= features < _FEW <= outputs:
        return _Estimate(of_busiest_thread / _OF_FEW_IMAGES, share)
    if conv.is_kernel_gradient and outputs > _FEW_OUTPUTS:
        speed = _OF_MANY_IMAGES
    else:
        speed = _OF_A_BLOCK if outputs <= _BLOCK else _OF_MORE
    return _Estimate(
        of_busiest_thread / speed, share * (_TIMES if min(features, outputs) < _FEW else 1)
    )


def _of_product(equation: JaxprEqn, threads: int) -> _Estimate:
    """Estimates products of matrices. XLA itself computes those of vectors.

    Nothing was timed but float32 on jaxlib 0.10.
    """
    left, right = map(aval_of, equation.invars)
    (summed, right_summed), (batch, _) = equation.params["dimension_numbers"]
    is_timed = left.dtype == right.dtype == np.float32 and is_jaxlib_0_10()
    if not left.size or not right.size or not is_timed:
        return _Estimate(0, 0)
    length, products = (math.prod(left.shape[axis] for axis in axes) for axes in (summed, batch))
    rows, columns = (side.size // (length * products) for side in (left, right))
    work = rows * columns * length
    if min(rows, columns) == 1:
        return _Estimate(0, 0)
    if products > 1:
        shares = min(threads, work / _SHARE)
        return _Estimate(
            products * work / (threads if work >= _LARGE else 1),
            products * (work + _START) / (shares * _EFFICIENCY if shares > 1 else 1),
        )
    is_transposed = right.ndim - 1 in right_summed
    speed = _OF_FEW_ROWS if rows <= _FEW_ROWS else _OF_TWO
    return _Estimate(
        work / threads,
        work / (threads * speed) + (right.size * _TRANSPOSED if is_transposed else 0),
    )


def _operations(jaxpr: Jaxpr, times: int = 1) -> Iterator[tuple[JaxprEqn, int]]:
    """Finds convolutions and products, and how often each is computed."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("conv_general_dilated", "dot_general"):
            yield equation, times
            continue
        turns = times * equation.params["length"] if equation.primitive.name == "scan" else times
        for inner in programs_in(equation.params):
            yield from _operations(opened(inner), turns)
