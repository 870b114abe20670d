"""`spmd.step.garbage`: when the collector is held back, and that it goes on afterwards."""

import gc
import threading

import jax.numpy as jnp
import pytest

import spmd
from spmd.step.garbage import held_back


@pytest.fixture(autouse=True)
def _collector():
    gc.enable()
    yield
    gc.enable()


def test_goes_on_after_the_last_of_nested_blocks():
    with held_back():
        with held_back():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_goes_on_after_an_error():
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_stays_off_where_the_user_switched_it_off():
    gc.disable()
    with held_back():
        pass
    assert not gc.isenabled()


def test_goes_on_when_blocks_of_several_threads_have_ended():
    inside, go_on = threading.Event(), threading.Event()

    def other():
        with held_back():
            inside.set()
            go_on.wait()

    thread = threading.Thread(target=other)
    with held_back():
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    go_on.set()
    thread.join()
    assert gc.isenabled()


def test_a_step_is_traced_without_collections_and_runs_with_them():
    seen = []

    def step(x):
        seen.append(gc.isenabled())
        return x + 1

    compiled = spmd.Step(step, spmd.make_mesh(["cpu:0"]))
    assert float(compiled(jnp.float32(1))) == 2
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_a_failing_trace_leaves_the_collector_on():
    def step():
        raise ValueError("in the trace")

    with pytest.raises(ValueError, match="in the trace"):
        spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
    assert gc.isenabled()
