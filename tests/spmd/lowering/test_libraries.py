"""The library that computes convolutions: chosen by their shapes, for the release of jaxlib that needs it."""

from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.lowering import library_options
from tests.spmd.lowering.rewrites import LAYOUT, convolution, numbers

OLD, KEY = "0.10.2", "xla_cpu_experimental_ynn_fusion_type"


def chosen(function, *shapes, threads=2, platform="cpu", release=OLD):
    program = jax.make_jaxpr(function)(*(jnp.zeros(shape) for shape in shapes))
    return library_options(program, platform, threads, release)


def convolve(images, kernel, **options):
    options = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": LAYOUT} | options
    return jax.lax.conv_general_dilated(images, kernel, **options)


def of_channels(features, outputs):
    return (8, 16, 16, features), (3, 3, features, outputs)


@pytest.mark.parametrize("outputs", [16, 64, 80])
def test_one_thread_computed_what_has_few_features(outputs):
    assert chosen(convolve, *of_channels(32, outputs)) == {KEY: "LIBRARY_FUSION_TYPE_REDUCE"}


def test_blocks_of_64_features_for_each_thread_are_shared_out_by_both():
    assert chosen(convolve, *of_channels(32, 128)) == {}
    assert chosen(convolve, *of_channels(32, 128), threads=4) != {}
    assert chosen(convolve, *of_channels(32, 192)) != {}  # two blocks for one thread


@pytest.mark.parametrize("channels", [(3, 64), (64, 3)])
def test_eigen_takes_longer_for_very_few_channels(channels):
    assert chosen(convolve, *of_channels(*channels)) == {}


def test_the_sum_over_all_convolutions_decides():
    def model(images, first, second):
        return convolve(convolve(images, first), second)

    assert chosen(model, (8, 16, 16, 3), (3, 3, 3, 32), (3, 3, 32, 32)) != {}
    assert chosen(model, (8, 16, 16, 3), (5, 5, 3, 64), (1, 1, 64, 8)) == {}


def test_what_that_library_does_not_compute_does_not_count():
    in_groups = lambda images, kernel: convolve(images, kernel, feature_group_count=2)  # noqa: E731
    assert chosen(in_groups, (8, 16, 16, 32), (3, 3, 16, 32)) == {}
    dilated = lambda images, kernel: convolve(  # noqa: E731
        images, kernel, lhs_dilation=(2, 2), padding=[(1, 1)] * 2
    )
    assert chosen(dilated, *of_channels(32, 32)) == {}

    def loop(images, kernel):
        return jax.lax.fori_loop(0, 3, lambda _, images: convolve(images, kernel), images)

    assert chosen(loop, *of_channels(32, 32)) == {}
    called = jax.jit(jax.checkpoint(convolve))
    assert chosen(called, *of_channels(32, 32)) != {}


def test_gradients_count(monkeypatch):
    run = convolution(window_strides=(1, 1), padding="SAME")
    assert chosen(run, *of_channels(32, 32)) != {}
    monkeypatch.setenv("JAXTRIBUTE_CPU_LOWERINGS", "0")
    assert chosen(run, *of_channels(32, 32)) == {}


def test_other_devices_and_releases_and_single_threads_stay_with_the_default():
    shapes = of_channels(32, 32)
    assert chosen(convolve, *shapes, platform="gpu") == {}
    assert chosen(convolve, *shapes, release="0.12.1") == {}
    assert chosen(convolve, *shapes, threads=1) == {}


@pytest.mark.skipif(not version("jaxlib").startswith("0.10."), reason="XLA's own choice is as good")
@pytest.mark.parametrize("asked", [False, True])
def test_a_step_is_compiled_so_unless_its_options_say_otherwise(monkeypatch, asked):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    kernel = spmd.Variable(numbers(3, 3, 32, 32), name="kernel")
    asking = {KEY: "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"} if asked else None
    mesh = spmd.make_mesh(["cpu:0"])
    options = spmd.StepOptions(compiler_options=asking)
    step = spmd.Step(lambda images: convolve(images, kernel.value), mesh, options=options)
    (images,) = spmd.distribute(np.zeros((8, 16, 16, 32), np.float32), mesh, batch_size=8)
    text = step.lower(images).compile().as_text()
    assert ("__ynn_fusion" in text) == asked
