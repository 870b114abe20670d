"""The libraries that compute convolutions and products: chosen by their shapes, for the release of jaxlib that needs it."""

import functools
import os
from importlib.metadata import version

import jax
import jax.numpy as jnp
import jaxlib.version
import numpy as np
import pytest

import spmd
from spmd.lowering import library_options, lowered, threads_of_device
from tests.spmd.lowering.rewrites import LAYOUT, numbers

KEY = "xla_cpu_experimental_ynn_fusion_type"
EIGEN = {KEY: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"}
EIGEN_FOR_PRODUCTS = {KEY: "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION,LIBRARY_FUSION_TYPE_REDUCE"}


@pytest.fixture(autouse=True)
def release(monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version__", "0.10.2")


def chosen(function, *shapes, threads=2, platform="cpu"):
    program = jax.make_jaxpr(function)(*(jnp.zeros(shape) for shape in shapes))
    return library_options(program, platform, threads)


def convolve(images, kernel, **options):
    options = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": LAYOUT} | options
    return jax.lax.conv_general_dilated(images, kernel, **options)


def of_channels(features, outputs):
    return (8, 16, 16, features), (3, 3, features, outputs)


@pytest.mark.parametrize("outputs", [16, 64, 80, 192])
def test_eigen_where_ynnpack_would_leave_a_thread_idle(outputs):
    assert chosen(convolve, *of_channels(32, outputs)) == EIGEN


@pytest.mark.parametrize(("outputs", "options"), [(64, {}), (128, EIGEN)])
@pytest.mark.parametrize("release_of_jaxlib", ["0.10.2", "0.12.1"])
def test_a_thread_of_eigen_is_faster_for_many_outputs(
    outputs, options, release_of_jaxlib, monkeypatch
):
    monkeypatch.setattr(jaxlib.version, "__version__", release_of_jaxlib)
    assert chosen(convolve, *of_channels(32, outputs), threads=1) == options


@pytest.mark.parametrize("channels", [(3, 64), (64, 3)])
def test_eigen_takes_longer_for_very_few_channels(channels):
    assert chosen(convolve, *of_channels(*channels)) == {}


def test_the_sum_over_all_convolutions_decides():
    def model(images, first, second):
        return convolve(convolve(images, first), second)

    assert chosen(model, (8, 16, 16, 3), (3, 3, 3, 32), (3, 3, 32, 32)) == EIGEN
    assert chosen(model, (8, 16, 16, 3), (5, 5, 3, 64), (1, 1, 64, 8)) == {}


def test_what_ynnpack_does_not_compute_does_not_count():
    dilated = functools.partial(convolve, lhs_dilation=(2, 2), padding=[(1, 1)] * 2)
    assert chosen(dilated, *of_channels(32, 32)) == {}
    assert chosen(convolve, (8, 16, 16, 32), (3, 3, 32, 0)) == {}


def test_calls_count():
    assert chosen(jax.jit(jax.checkpoint(convolve)), *of_channels(32, 32)) == EIGEN


@pytest.mark.parametrize(("turns", "options"), [(1, {}), (10, EIGEN)])
def test_what_a_loop_computes_counts_in_each_turn(turns, options):
    def model(images, first, second):
        def turn(images, _):
            return convolve(images, second), None

        return jax.lax.scan(turn, convolve(images, first), length=turns)[0]

    assert chosen(model, (8, 16, 16, 3), (5, 5, 3, 64), (1, 1, 64, 64)) == options


def kernel_gradient(images, kernel):
    result, pull = jax.vjp(lambda kernel: convolve(images, kernel), kernel)
    return pull(result)


@pytest.mark.parametrize(("count", "options"), [(4, {}), (8, EIGEN), (32, EIGEN)])
def test_kernel_gradients_of_small_batches_stay(count, options):
    """The forward pass gives 64 outputs to one thread, for which either library would do."""
    image, kernel = (count, 16, 16, 32), (3, 3, 32, 48)
    assert chosen(convolve, image, kernel, threads=1) == {}
    assert chosen(kernel_gradient, image, kernel, threads=1) == options


def test_rewritten_convolutions_do_not_count():
    """A pointwise one becomes a matrix product."""
    program = jax.make_jaxpr(convolve)(jnp.zeros((8, 64, 64, 64)), jnp.zeros((1, 1, 64, 64)))
    assert library_options(program, "cpu", 2) == EIGEN
    assert library_options(lowered(program, "cpu"), "cpu", 2) == {}


def attention(queries, keys):
    return jnp.einsum("bqhd,bkhd->bhqk", queries, keys)


def of_length(length, size=64):
    return [(8, length, 4, size)] * 2


def test_eigen_where_ynnpack_would_compute_many_products_with_one_thread():
    assert chosen(attention, *of_length(168)) == EIGEN_FOR_PRODUCTS
    assert chosen(jax.grad(lambda *a: attention(*a).sum()), *of_length(168)) == EIGEN_FOR_PRODUCTS


@pytest.mark.parametrize("length", [16, 64, 512])
def test_products_too_small_for_two_threads_or_large_enough_for_both_stay(length):
    assert chosen(attention, *of_length(length)) == {}


def test_dense_layers_stay_and_count_against_attention():
    def dense(x, kernel):
        result, pull = jax.vjp(jnp.dot, x, kernel)
        return pull(result)

    def model(x, kernel, queries, keys):
        return dense(x, kernel), attention(queries, keys)

    assert chosen(dense, (1024, 256), (256, 1024)) == {}
    assert chosen(dense, (32, 1024), (1024, 1024)) == {}
    assert chosen(model, (64, 64), (64, 64), *of_length(168)) == EIGEN_FOR_PRODUCTS
    assert chosen(model, (8192, 512), (512, 2048), *of_length(168)) == {}


def test_transposed_matrices_of_few_rows_take_eigen_long():
    """As the gradient by the input of a dense layer."""

    def model(axis, x, kernel, queries, keys):
        return jax.lax.dot(x, kernel, dimension_numbers=(((1,), (axis,)), ((), ()))), attention(
            queries, keys
        )

    shapes = (64, 512), (512, 512), *of_length(168)
    assert chosen(functools.partial(model, 0), *shapes) == EIGEN_FOR_PRODUCTS
    assert chosen(functools.partial(model, 1), *shapes) == {}


def test_each_kind_is_chosen_on_its_own():
    def model(images, kernel, queries, keys):
        return convolve(images, kernel), attention(queries, keys)

    both = chosen(model, *of_channels(32, 32), *of_length(168))
    assert both == {KEY: "LIBRARY_FUSION_TYPE_REDUCE"}


def test_products_that_no_library_computes_do_not_count():
    def model(queries, keys):
        return jnp.einsum("bqhd,bqhd->bqh", queries, keys), attention(queries, keys)

    assert chosen(model, *of_length(168)) == EIGEN_FOR_PRODUCTS
    assert chosen(attention, (8, 0, 4, 64), (8, 0, 4, 64)) == {}
    assert chosen(jnp.dot, (64, 512), (512,)) == chosen(jnp.dot, (), ()) == {}


def test_other_types_than_single_precision_stay():
    def halved(*operands):
        return attention(*(operand.astype(jnp.bfloat16) for operand in operands))

    assert chosen(halved, *of_length(168)) == {}


def test_attention_in_a_loop_counts():
    def model(queries, keys):
        return jax.lax.map(lambda scale: attention(queries * scale, keys), jnp.ones(3))

    assert chosen(model, *of_length(168)) == EIGEN_FOR_PRODUCTS


def test_others_stay_with_the_default(monkeypatch):
    shapes = of_channels(32, 32)
    assert chosen(convolve, *shapes, platform="gpu") == {}
    with monkeypatch.context() as patch:
        patch.setattr(jaxlib.version, "__version__", "0.12.1")
        assert chosen(convolve, *shapes) == {}
        assert chosen(convolve, *of_channels(32, 128)) == EIGEN
        patch.setattr(jaxlib.version, "__version__", "0.13.0")  # not timed
        assert chosen(convolve, *of_channels(32, 128)) == {}
    for name, value in (("JAXTRIBUTE_CPU_LOWERINGS", "0"), ("XLA_FLAGS", f"--{KEY}=")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert chosen(convolve, *shapes) == {}


def test_threads_of_a_device(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    assert [threads_of_device(n, spans_processes=False) for n in (0, 1, 2, 4, 8)] == [6, 6, 3, 1, 1]
    # Hosts differ, programs may not.
    assert threads_of_device(1, spans_processes=True) == 2


@pytest.mark.skipif(not version("jaxlib").startswith("0.10."), reason="XLA's own choice is as good")
@pytest.mark.parametrize("asked", [None, "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"])
def test_a_step_is_compiled_so_unless_its_options_say_otherwise(monkeypatch, asked):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    kernel = spmd.Variable(numbers(3, 3, 32, 32), name="kernel")
    mesh = spmd.make_mesh(["cpu:0"])

    def calls(function):
        """Lists what YNNPACK computes."""
        options = spmd.StepOptions(compiler_options={KEY: asked} if asked else None)
        step = spmd.Step(function, mesh, options=options)
        (images,) = spmd.distribute(np.zeros((8, 16, 16, 32), np.float32), mesh, batch_size=8)
        text = step.lower(images).compile().as_text()
        return text.count("__ynn_fusion")

    def product(images):
        return images.reshape(-1, 32) @ kernel.value[0, 0]

    assert calls(lambda images: convolve(images, kernel.value)) == (1 if asked else 0)
    assert calls(product) == (0 if asked else 1)
    # One of both, whichever it is.
    assert calls(lambda images: (convolve(images, kernel.value), product(images))) == 1
