"""Convolutions in loops and branches: the same numbers, and the order of axes that XLA has fast code for."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.extend.core import jaxpr_as_fun
from jax.sharding import PartitionSpec as P

from spmd._jax_internals import opened, programs_in
from spmd.lowering import layouts
from spmd.lowering.convolution import Convolution
from spmd.lowering.layouts import with_plain_layouts
from tests.spmd.lowering.rewrites import (
    LAYOUT,
    RANKS,
    assert_close,
    convolution,
    numbers,
)


@pytest.fixture(autouse=True, scope="module")
def small_convolutions():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_MIN_WORK", "_MIN_TERMS"):
            patch.setattr(layouts, name, 0)
        yield


def convolutions(jaxpr, in_loop=False):
    """Lists all convolutions with whether they stand in a loop or a branch."""
    found = []
    for equation in jaxpr.eqns:
        if equation.primitive.name == "conv_general_dilated":
            found.append((Convolution.of(equation), in_loop))
        inside = in_loop or equation.primitive.name in ("scan", "while", "cond")
        for inner in map(opened, programs_in(equation.params)):
            found += convolutions(inner, inside)
    return found


def both(function, *operands):
    """Runs a function as JAX traces it and with the pass, and gives the program that the pass made."""
    program = jax.make_jaxpr(function)(*operands)
    better = with_plain_layouts(program)
    results = [jax.jit(jaxpr_as_fun(one))(*operands) for one in (program, better)]
    return *results, better.jaxpr


def scanned(run):
    def loop(image, kernel):
        def turn(scale, _):
            results = run(image * scale, kernel)
            return scale + 0.25, results

        return lax.scan(turn, 1.0, length=2)[1]

    return loop


def looped(run):
    def loop(image, kernel):
        shapes = jax.eval_shape(run, image, kernel)
        zeros = [jnp.zeros(one.shape, one.dtype) for one in shapes]

        def turn(state):
            turns, sums = state
            return turns + 1, [a + b for a, b in zip(sums, run(image, kernel), strict=True)]

        return lax.while_loop(lambda state: state[0] < 2, turn, (0, zeros))[1]

    return loop


def branched(run):
    def choose(image, kernel):
        return lax.cond(image.sum() > 0, run, lambda i, k: run(2 * i, k), image, kernel)

    return choose


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_convolution_has_the_same_numbers(data):
    rank, layout = data.draw(st.sampled_from([*RANKS, (2, LAYOUT)]))
    sizes = st.tuples(*[st.integers(1, 3)] * rank)
    groups = data.draw(st.sampled_from([1, 2]))
    run = convolution(
        window_strides=data.draw(sizes),
        rhs_dilation=data.draw(sizes),
        padding=data.draw(st.sampled_from(["SAME", "VALID"])),
        dimension_numbers=layout,
        feature_group_count=groups,
    )
    spatial, window = (8, 7, 9)[:rank], data.draw(sizes)
    image, kernel = numbers(2, *spatial, 4), numbers(*window, 4 // groups, 6, seed=1)
    if layout[0].startswith("NC"):
        image, kernel = jnp.moveaxis(image, -1, 1), kernel.transpose(3, 2, 0, 1)
    wrap = data.draw(st.sampled_from([scanned, looped, branched]))
    expected, actual, better = both(wrap(run), image, kernel)
    assert_close(expected, actual)
    in_loops = [one for one, inside in convolutions(better) if inside]
    assert len(in_loops) >= 3
    assert all(one.is_plain for one in in_loops)


def test_sums_have_the_precision_and_type_that_were_asked_for():
    image, kernel = (numbers(*shape, dtype=jnp.bfloat16) for shape in ((2, 3, 6, 6), (4, 3, 2, 2)))

    def convolve(image, kernel):
        return [
            lax.conv(image, kernel, (1, 1), "SAME", lax.Precision.HIGHEST, preferred_element_type=d)
            for d in (None, jnp.float32)
        ]

    expected, actual, better = both(looped(convolve), image, kernel)
    assert_close(expected, actual)
    found = [one for one, _ in convolutions(better)]
    assert [one.dtype for one in found] == [jnp.bfloat16, jnp.float32]
    assert all(one.precision == (lax.Precision.HIGHEST,) * 2 for one in found)


def test_convolutions_outside_of_loops_stay_as_they_are():
    run = convolution(window_strides=(1, 1), padding="SAME")
    image, kernel = numbers(2, 8, 8, 3), numbers(3, 3, 3, 4)
    program = jax.make_jaxpr(jax.jit(run))(image, kernel)
    assert with_plain_layouts(program) is program
    forward = scanned(
        lambda *of: [lax.conv_general_dilated(*of, (1, 1), "SAME", dimension_numbers=LAYOUT)]
    )
    program = jax.make_jaxpr(forward)(image, kernel)
    assert with_plain_layouts(program) is program
    mixed = jax.make_jaxpr(lambda i, k: (run(i, k), scanned(run)(i, k)))(image, kernel)
    found = convolutions(with_plain_layouts(mixed).jaxpr)
    assert not all(one.is_plain for one, inside in found if not inside)
    assert all(one.is_plain for one, inside in found if inside)


def test_small_convolutions_stay_as_they_are(monkeypatch):
    run = scanned(convolution(window_strides=(1, 1), padding="SAME"))
    image, kernel = numbers(2, 8, 8, 3), numbers(3, 3, 3, 4)
    program = jax.make_jaxpr(run)(image, kernel)
    for name, largest in (("_MIN_WORK", 2 * 8 * 8 * 4 * 27), ("_MIN_TERMS", 2 * 8 * 8)):
        with monkeypatch.context() as patch:
            patch.setattr(layouts, name, largest)
            assert with_plain_layouts(program) is not program
            patch.setattr(layouts, name, largest + 1)
            assert with_plain_layouts(program) is program


@pytest.mark.parametrize("check", [False, True])
def test_programs_of_several_devices(mesh_of, check):
    """`shard_map` types what differs between devices; where it checks that, nothing is replaced."""
    run = scanned(convolution(window_strides=(1, 1), padding="SAME"))
    of_all = jax.shard_map(
        lambda image, kernel: run(image, kernel)[0],
        mesh=mesh_of(2),
        in_specs=(P("replica"), P()),
        out_specs=P(None, "replica"),
        check_vma=check,
    )
    if check:
        program = jax.make_jaxpr(of_all)(numbers(4, 6, 6, 3), numbers(3, 3, 3, 4, seed=1))
        assert with_plain_layouts(program) is program
        return
    expected, actual, better = both(of_all, numbers(4, 6, 6, 3), numbers(3, 3, 3, 4, seed=1))
    assert_close(expected, actual)
    assert all(one.is_plain for one, _ in convolutions(better))
