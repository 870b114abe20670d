"""Tests of convolutions that XLA of jaxlib 0.10 computes wrongly, against those of operands that were padded before."""

import jax
import jax.numpy as jnp
import jaxlib.version
import pytest
from jax.extend.core import jaxpr_as_fun

from spmd.lowering import for_cpu
from tests.spmd.lowering.rewrites import (
    RANKS,
    assert_close,
    convolution,
    numbers,
    operands_of,
    taken,
)


@pytest.fixture(autouse=True)
def release(monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version__", "0.10.2")


def rewritten(function, *operands):
    """Returns results with the rewrites, and the names of these."""
    program = for_cpu(jax.make_jaxpr(function)(*operands))
    return jax.jit(jaxpr_as_fun(program))(*operands), taken(program)


@pytest.mark.parametrize(("rank", "layout"), RANKS)
@pytest.mark.parametrize("options", [{}, {"feature_group_count": 2}, {"lhs_dilation": 2}])
def test_padding_that_cuts_and_adds(rank, layout, options):
    if "lhs_dilation" in options:
        options = {"lhs_dilation": (2,) * rank}
    sizes = {"N": 2, "C": 8, "D": 5, "H": 6, "W": 7}
    kernels = {"I": 8 // options.get("feature_group_count", 1), "O": 8, "D": 3, "H": 3, "W": 3}
    image, kernel = operands_of(layout, sizes, kernels)
    axes = [layout[0].index(axis) for axis in layout[0] if axis not in "NC"]

    def of_padded(image, kernel):
        edges = [(0, 0, 0)] * image.ndim
        for axis in axes:
            edges[axis] = -1, 1, options.get("lhs_dilation", [1])[0] - 1
        others = {name: value for name, value in options.items() if name != "lhs_dilation"}
        run = convolution(
            window_strides=(1,) * rank, padding="VALID", dimension_numbers=layout, **others
        )
        return run(jax.lax.pad(image, jnp.zeros(()), edges), kernel)[0]

    def convolve(image, kernel):
        run = convolution(
            window_strides=(1,) * rank,
            padding=[(-1, 1)] * rank,
            dimension_numbers=layout,
            **options,
        )
        return run(image, kernel)[0]

    (result,), names = rewritten(convolve, image, kernel)
    assert names[0] == "padded_first"
    assert_close([of_padded(image, kernel)], [result])


def test_the_gradient_of_one_that_is_padded_by_more_than_its_kernel():
    run = convolution(window_strides=(1, 1), padding=((2, 0), (0, 0)))
    image, kernel = numbers(2, 9, 8, 9), numbers(2, 2, 9, 8, seed=1)

    def of_padded(image, kernel):
        wider = jnp.pad(image, ((0, 0), (2, 0), (0, 0), (0, 0)))
        return convolution(window_strides=(1, 1), padding="VALID")(wider, kernel)[0]

    result, pull = jax.vjp(of_padded, image, kernel)
    ours, names = rewritten(run, image, kernel)
    assert "padded_first" in names
    assert_close([result, *pull(jnp.sin(result))], ours)


@pytest.mark.parametrize("padding", [(-1, 1), (-1, 2), (-2, 1), (-1, 0), (1, -1), (0, -2)])
@pytest.mark.parametrize("features", [3, 9, 32])
def test_numbers_are_right_whatever_is_cut(padding, features, monkeypatch):
    """With the jaxlib that runs, and the rules for it."""
    monkeypatch.undo()
    image, kernel = numbers(2, 9, 8, features), numbers(3, 3, features, 8, seed=1)
    edges = [(0, 0, 0), (*padding, 0), (0, 0, 0), (0, 0, 0)]

    def of_padded(image, kernel):
        run = convolution(window_strides=(1, 1), padding="VALID")
        return run(jax.lax.pad(image, jnp.zeros(()), edges), kernel)[0]

    result, pull = jax.vjp(of_padded, image, kernel)
    run = convolution(window_strides=(1, 1), padding=[padding, (0, 0)])
    ours, _ = rewritten(run, image, kernel)
    assert_close([result, *pull(jnp.sin(result))], ours)


@pytest.mark.parametrize(
    ("padding", "version"), [((1, -1), "0.10.2"), ((-1, 0), "0.10.2"), ((-1, 1), "0.12.0")]
)
def test_others_are_left_to_xla(padding, version, monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version__", version)
    program = jax.make_jaxpr(convolution(window_strides=(1, 1), padding=[padding, (0, 0)]))(
        numbers(2, 9, 8, 9), numbers(2, 2, 9, 8)
    )
    assert "padded_first" not in taken(for_cpu(program))
