"""Choices before the backend starts, each in a process of its own."""

import os

import pytest

import spmd
from spmd.errors import MeshError
from spmd.topology import (
    compute_deterministically,
    limit_threads,
    use_gpus,
    use_platforms,
)

DETERMINISTIC = "--xla_gpu_deterministic_ops=true"


@pytest.fixture
def python(run_python):
    def run(code, **environment):
        before = "import os, jax, spmd\nfrom spmd.topology import *\n"
        return run_python("-c", before + code, environment=environment).stdout.split()

    return run


def test_gpus_are_chosen_among_those_of_the_environment(python):
    code = "use_gpus([2, 0])\nprint(os.environ['CUDA_VISIBLE_DEVICES'])"
    assert python(code) == ["2,0"]
    assert python(code, CUDA_VISIBLE_DEVICES="GPU-a, GPU-b,GPU-c") == ["GPU-c,GPU-a"]
    refused = (
        "try:\n    use_gpus([3])\nexcept ValueError as error:\n    print('names 2' in str(error))"
    )
    assert python(refused, CUDA_VISIBLE_DEVICES="4,5") == ["True"]


def test_only_some_platforms_start(python):
    code = "use_platforms(['cpu'])\nprint(jax.default_backend(), jax.config.jax_platforms)"
    assert python(code, JAX_PLATFORMS="") == ["cpu", "cpu"]


def test_threads(python):
    show = "print(os.environ.get('NPROC'))"
    assert python(f"limit_threads(3)\n{show}") == ["3"]
    assert python(f"limit_threads(0)\n{show}", NPROC="7") == ["None"]
    # Simulated devices keep those that they need, in either order.
    needed = python(f"spmd.simulate_devices(8)\nlimit_threads(2)\n{show}\nspmd.make_mesh()")
    assert int(needed[0]) >= 16
    needed = python(f"limit_threads(2)\nspmd.simulate_devices(8)\n{show}")
    assert int(needed[0]) >= 16


def test_threads_are_really_limited(python):
    code = """
{}
x = jax.numpy.ones((300, 300))
(x @ x).block_until_ready()
names = [open(f"/proc/self/task/{{one}}/comm").read() for one in os.listdir("/proc/self/task")]
print(sum("tf_XLAEigen" in name or "XLAEigen" in name for name in names))
"""
    (few,), (many,) = (
        python(code.format("limit_threads(2)")),
        python(code.format("limit_threads(9)")),
    )
    assert int(few) < int(many)


def test_determinism(python):
    code = "compute_deterministically()\n" * 2 + "print(os.environ['XLA_FLAGS'], jax.devices()[0])"
    flags = python(code, XLA_FLAGS="--xla_cpu_enable_fast_math=false")
    assert flags[:2] == ["--xla_cpu_enable_fast_math=false", DETERMINISTIC]


@pytest.mark.parametrize(
    ("choose", "words"),
    [
        (lambda: use_gpus([0]), "CUDA_VISIBLE_DEVICES"),
        (lambda: use_platforms(["cpu"]), "JAX_PLATFORMS=cpu"),
        (lambda: limit_threads(2), "NPROC=2"),
        (compute_deterministically, DETERMINISTIC),
    ],
)
def test_too_late(choose, words):
    assert spmd.make_mesh().size == 8
    before = dict(os.environ)
    with pytest.raises(MeshError, match=f"too late.*{words}"):
        choose()
    assert os.environ == before
