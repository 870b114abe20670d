"""Steps on several threads: those that share variables take turns, and nobody waits for XLA's compiler."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.state import discover
from spmd.step.locks import StateClaim


def counting(mesh, name, by=1.0):
    """A variable, and a step that adds to it."""
    count = spmd.Variable(jnp.zeros(()), name=name)

    def add() -> None:
        count.value = count.value + by

    add.__name__ = name
    return count, spmd.Step(add, mesh)


def groups_of(*variables):
    table, _ = discover(lambda: [variable.value for variable in variables])
    claim = StateClaim(table)
    return claim, [claim.groups_of([variable])[0] for variable in variables]


def on_a_thread(function):
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, errors


class SlowCompiler:
    """Stands for XLA, and takes as long as the test wants for the programs of one step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slow: str) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()
        compile_lowered = jax.stages.Lowered.compile

        def compiled(lowered: Any, **options: Any) -> Any:
            if slow in lowered.as_text():
                self.began.set()
                assert self.may_end.wait(60)
            return compile_lowered(lowered, **options)

        monkeypatch.setattr(jax.stages.Lowered, "compile", compiled)


@pytest.mark.parametrize("shared", [False, True], ids=["other variables", "the same variables"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_step_goes_on_while_another_is_compiled(mesh_of, monkeypatch, replicas, shared):
    mesh = mesh_of(replicas)
    compiler = SlowCompiler(monkeypatch, "large")
    small_count, small = counting(mesh, "small")
    large_count, large = counting(mesh, "large", by=100.0)
    if shared:

        def large_function() -> None:
            small_count.value = small_count.value + 100.0

        large_function.__name__ = "large"
        large, large_count = spmd.Step(large_function, mesh), small_count
    small()
    thread, errors = on_a_thread(large)
    assert compiler.began.wait(60)
    for _ in range(20):
        small()
    assert thread.is_alive()  # compiling still
    assert float(small_count.value) == 21
    # Nor does it matter that a step must be traced and compiled first.
    other_count, other = counting(mesh, "other")
    other()
    assert float(other_count.value) == 1
    compiler.may_end.set()
    thread.join(60)
    assert not errors
    assert float(large_count.value) == (121 if shared else 100)


def test_a_step_goes_on_with_one_shape_while_it_is_compiled_for_another(mesh_of, monkeypatch):
    compiler = SlowCompiler(monkeypatch, "7xf32")
    total = spmd.Variable(jnp.zeros(()), name="total")

    def add(x: Any) -> None:
        total.value = total.value + x.sum()

    step = spmd.Step(add, mesh_of(2))
    step(np.ones(3, np.float32))
    thread, errors = on_a_thread(lambda: step(np.ones(7, np.float32)))
    assert compiler.began.wait(60)
    for _ in range(5):
        step(np.ones(3, np.float32))
    assert float(total.value) == 18
    compiler.may_end.set()
    thread.join(60)
    assert not errors
    assert float(total.value) == 25


def test_a_real_compilation_lets_another_step_go_on(mesh_of):
    """The small step's count of calls during XLA's work, which takes as long as it takes."""
    mesh = mesh_of(2)
    weights = [spmd.Variable(jnp.eye(16) * 0.5, name=f"w{index}") for index in range(60)]
    count, small = counting(mesh, "small")
    small()

    def large(x: Any) -> Any:
        for weight in weights:
            x = jnp.tanh(x @ weight.value) + jnp.sort(x, axis=0)
        return spmd.all_reduce(x.sum())

    lowered = spmd.Step(large, mesh).lower(np.ones((4, 16), np.float32))
    during = 0
    thread, errors = on_a_thread(lowered.compile)
    while thread.is_alive():
        small()
        during += 1
    assert not errors
    assert during > 1
    assert float(count.value) == 1 + during


@pytest.mark.parametrize("replicas", [1, 2])
def test_threads_that_train_one_model_lose_no_update(mesh_of, replicas):
    mesh = mesh_of(replicas)
    a, b = (spmd.Variable(jnp.zeros(3), name=name) for name in "ab")

    def one() -> None:
        a.value = a.value + 1

    def both() -> None:
        a.value, b.value = a.value + 1, b.value + 1

    def other() -> Any:
        b.value = b.value + 1
        return a.value.sum()  # read here, and written elsewhere

    steps = [spmd.Step(function, mesh) for function in (one, both, other, one)]

    def train(step: Any) -> None:
        for _ in range(50):
            step()

    threads = [on_a_thread(lambda step=step: train(step)) for step in steps]
    for thread, errors in threads:
        thread.join(120)
        assert not thread.is_alive()
        assert not errors
    np.testing.assert_array_equal(a.value, np.full(3, 150.0))
    np.testing.assert_array_equal(b.value, np.full(3, 100.0))


def test_threads_that_call_one_new_step_trace_it_once(mesh_of):
    _, step = counting(mesh_of(2), "count")
    threads = [on_a_thread(step) for _ in range(4)]
    for thread, errors in threads:
        thread.join(60)
        assert not errors
    assert step.trace_count == 1


def test_variables_that_were_found_together_share_a_lock():
    a, b, c, d = (spmd.Variable(jnp.zeros(()), name=name) for name in "abcd")
    one, (of_a, of_b) = groups_of(a, b)
    two, (of_c, of_d) = groups_of(c, d)
    assert of_a is of_b
    assert of_c is of_d
    assert of_a is not of_c
    # A step that spans both takes both locks, in one order whoever asks.
    three, groups = groups_of(d, a)
    assert groups == [of_d, of_a]
    assert three.groups_of([d, a]) == three.groups_of([a, d]) == [of_a, of_c]
    del one, two


def test_a_shared_stream_does_not_join_models():
    stream = spmd.Variable(jax.random.key(0), kind="key", name="stream")
    a, b = (spmd.Variable(jnp.zeros(()), name=name) for name in "ab")
    one, (of_a, of_stream) = groups_of(a, stream)
    two, (of_b, same_stream) = groups_of(b, stream)
    assert of_stream is same_stream
    assert len({of_a, of_b, of_stream}) == 3
    del one, two


def test_locks_of_several_groups_are_all_free_after_an_error():
    a, b = (spmd.Variable(jnp.zeros(()), name=name) for name in "ab")
    claims = [groups_of(a), groups_of(b)]
    claim, groups = groups_of(a, b)
    with pytest.raises(ZeroDivisionError), claim.lock():
        raise ZeroDivisionError
    taken: list[bool] = []
    thread, _ = on_a_thread(
        lambda: taken.extend(group.lock.acquire(blocking=False) for group in groups)
    )
    thread.join(60)
    assert taken == [True, True]
    del claims
