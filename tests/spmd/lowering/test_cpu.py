"""Tests of which programs are rewritten, and where in them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec

import spmd
from spmd.lowering import Thresholds, for_cpu, lowered
from tests.spmd.lowering.rewrites import ANY, LAYOUT, assert_close, both, numbers, taken


def convolve(image, kernel):
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=LAYOUT)


def pool(image):
    window = (1, 2, 2, 1)
    return jax.lax.reduce_window(image, -jnp.inf, jax.lax.max, window, window, "VALID")


IMAGE, KERNEL = numbers(2, 6, 6, 3), numbers(1, 1, 3, 3)


def test_inside_scan():
    def run(image, kernel):
        def body(carry, _):
            return convolve(carry, kernel), ()

        return [jax.lax.scan(body, image, length=2)[0]]

    plain, better, names = both(run, IMAGE, KERNEL)
    assert names == ["pointwise"]
    assert_close(plain, better)


def test_inside_while_and_cond():
    def run(image, kernel):
        image = jax.lax.fori_loop(0, 2, lambda _, value: convolve(value, kernel), image)
        return [
            jax.lax.cond(
                image.sum() > 0, lambda: convolve(image, kernel), lambda: -convolve(image, kernel)
            )
        ]

    plain, better, names = both(run, IMAGE, KERNEL)
    assert names == ["pointwise"] * 3
    assert_close(plain, better)


def test_inside_checkpoint():
    @jax.checkpoint
    def block(kernel, image):
        return jnp.sum(jnp.sin(pool(convolve(image, kernel))))

    plain, better, names = both(jax.grad(block, argnums=(0, 1)), KERNEL, IMAGE)
    assert {"pointwise", "pointwise_kernel_gradient", "max_pool_gradient"} <= set(names)
    assert_close(plain, better)


def test_inside_custom_gradients_and_called_functions():
    @jax.custom_vjp
    def doubled(image, kernel):
        return convolve(image, kernel) * 2

    doubled.defvjp(lambda *operands: (doubled(*operands), operands), lambda *_: (None, None))
    plain, better, names = both(lambda *operands: [jax.jit(doubled)(*operands)], IMAGE, KERNEL)
    assert names == ["pointwise"]
    assert_close(plain, better)


def test_under_vmap():
    plain, better, names = both(
        jax.vmap(lambda image: [convolve(image, KERNEL)]), numbers(3, 2, 6, 6, 3)
    )
    assert names == ["pointwise"]
    assert_close(plain, better)


def test_operations_of_one_shape_share_their_code():
    program = for_cpu(
        jax.make_jaxpr(lambda image: convolve(convolve(image, KERNEL), KERNEL))(IMAGE), ANY
    )
    first, second = (equation.params["jaxpr"] for equation in program.eqns)
    assert first is second


def calls(function, *operands):
    """Gives the program of each call of a function, with the rewrites."""
    program = for_cpu(jax.make_jaxpr(function)(*operands), ANY)
    return [equation.params["jaxpr"] for equation in program.eqns]


def test_a_function_called_twice_stays_one():
    called = jax.jit(lambda image: jnp.sin(convolve(image, KERNEL)))
    first, second = calls(lambda image: called(called(image)), IMAGE)
    assert taken(first) == ["pointwise"]
    assert first is second


def test_a_function_without_forms_stays_itself():
    called = jax.jit(jnp.sin)
    program = jax.make_jaxpr(lambda image: called(called(image)))(IMAGE)
    better = for_cpu(program, ANY)
    assert better.eqns[0] is program.eqns[0]


def test_a_checked_shard_map_is_left_to_xla():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    over = PartitionSpec("replica")

    @functools.partial(
        jax.shard_map, mesh=mesh, in_specs=over, out_specs=PartitionSpec(), check_vma=True
    )
    def total(image):
        return jax.lax.psum(convolve(image, KERNEL).sum(), "replica")

    plain, better, names = both(lambda image: [total(image)], IMAGE)
    assert names == []
    assert_close(plain, better)


def test_whole_numbers_are_left_to_xla():
    program = jax.make_jaxpr(convolve)(IMAGE.astype(int), KERNEL.astype(int))
    assert taken(for_cpu(program, ANY)) == []


@pytest.mark.parametrize(
    ("image", "kernel", "rewrite"),
    [
        ((16, 32, 32, 64), (1, 1, 64, 16), "pointwise"),
        ((16, 32, 32, 64), (1, 1, 64, 8), None),  # few outputs
        ((16, 16, 16, 16), (1, 1, 16, 16), None),  # little work
        ((16, 28, 28, 1), (3, 3, 1, 8), "one_channel"),
        ((16, 28, 28, 1), (3, 3, 1, 4), None),
        ((2, 8, 8, 1), (3, 3, 1, 8), None),
    ],
)
def test_what_xla_does_as_well_is_left_to_it(image, kernel, rewrite):
    program = jax.make_jaxpr(convolve)(numbers(*image), numbers(*kernel))
    assert taken(for_cpu(program)) == ([rewrite] if rewrite else [])


def test_kernel_gradients_that_xla_does_as_well_are_left_to_it():
    def gradient(image, kernel):
        return jax.grad(lambda kernel: convolve(image, kernel).sum())(kernel)

    def names(batch, outputs, thresholds):
        operands = numbers(batch, 28, 28, 1), numbers(3, 3, 1, outputs)
        return taken(for_cpu(jax.make_jaxpr(gradient)(*operands), thresholds))

    assert "few_channels_kernel_gradient" in names(64, 32, Thresholds())
    assert "few_channels_kernel_gradient" not in names(16, 32, Thresholds())
    assert "few_channels_kernel_gradient" not in names(64, 16, Thresholds())


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_other_devices_keep_their_programs(platform):
    program = jax.make_jaxpr(convolve)(IMAGE, KERNEL)
    assert lowered(program, platform) is program


def make_step(devices):
    kernel = spmd.Variable(numbers(3, 3, 1, 32), name="kernel")

    def train(image):
        def loss(kernel):
            return jnp.mean(jnp.square(pool(convolve(image, kernel))))

        value, gradient = jax.value_and_grad(loss)(kernel.value)
        kernel.value = kernel.value - spmd.all_reduce(gradient, "mean")
        return spmd.all_reduce(value, "mean")

    mesh = spmd.make_mesh([f"cpu:{device}" for device in range(devices)])
    (batch,) = spmd.distribute(np.asarray(numbers(64, 32, 32, 1)), mesh, batch_size=64)
    return spmd.Step(train, mesh), batch, kernel


@pytest.mark.parametrize("devices", [1, 2])
def test_a_step_gives_the_same_with_and_without(devices, monkeypatch):
    results = []
    for switch in ("0", "1"):
        monkeypatch.setenv("JAXTRIBUTE_CPU_LOWERINGS", switch)
        step, batch, kernel = make_step(devices)
        text = step.lower(batch).stablehlo
        assert ("select_and_scatter" in text) == ("convolution" in text) == (switch == "0")
        results.append([step(batch), step(batch), kernel.value])
    assert_close(*results)
