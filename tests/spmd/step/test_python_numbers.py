"""Python numbers as arguments: how many programs they make, and that they give the same numbers either way."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.step.python_numbers import most_traced

QUIET = spmd.StepOptions(warn_after=99)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_number_that_changes_compiles_twice(mesh_of, replicas):
    mesh = mesh_of(replicas)
    step = spmd.Step(lambda x, i: spmd.all_reduce((x * i).sum()), mesh)
    (batch,) = spmd.distribute(np.ones(4, np.float32), mesh, batch_size=4)
    assert [float(step(batch, i)) for i in range(1000)] == [4.0 * i for i in range(1000)]
    assert step.trace_count == 2


def test_the_first_call_sees_the_number_itself(mesh_of):
    seen: list[Any] = []

    def look(x, rate):
        seen.append(rate)
        return x * rate

    step = spmd.Step(look, mesh_of(1))
    for rate in (0.5, 0.5, 0.25, 0.5):
        assert float(step(jnp.float32(2), rate)) == 2 * rate
    assert [type(rate) is float for rate in seen] == [True, False]
    assert seen[1].weak_type


def test_an_axis_is_a_program_for_each_value(mesh_of):
    step = spmd.Step(lambda x, axis: x.sum(axis=axis), mesh_of(2))
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for _ in range(2):
        for axis in (0, 1, 2):
            np.testing.assert_array_equal(step(x, axis), x.sum(axis))
    assert step.trace_count == 3


def test_a_number_that_is_needed_warns_and_is_named(mesh_of):
    options = spmd.StepOptions(warn_after=3)
    step = spmd.Step(lambda x, n: jnp.repeat(x, n), mesh_of(1), options=options)
    for n in (1, 2):
        assert step(jnp.ones(2), n).shape == (2 * n,)
    expected = r"args\[1\] changed from 2 to 3, a Python number that the step needs as one"
    with pytest.warns(spmd.errors.RecompilationWarning, match=expected):
        step(jnp.ones(2), 3)


def test_any_error_of_a_traced_number_keeps_it_static(mesh_of):
    """Code that gets an array where it expects a number fails with errors of its own."""
    table = {1: 10.0, 2: 20.0, 3: 30.0}
    step = spmd.Step(lambda x, i: x * table[i], mesh_of(1))  # TypeError: unhashable
    assert [float(step(jnp.float32(1), i)) for i in (1, 2, 3, 2)] == [10, 20, 30, 20]
    assert step.trace_count == 3


def test_of_two_numbers_only_the_one_that_is_needed_is_static(mesh_of):
    step = spmd.Step(lambda x, axis, rate: x.sum(axis=axis) * rate, mesh_of(1))
    x = np.ones((2, 2), np.float32)
    for i in range(20):
        np.testing.assert_array_equal(step(x, i % 2, i / 4), np.full(2, i / 2, np.float32))
    # (0, 0.0), then one for each axis with the rate traced.
    assert step.trace_count == 3


def test_what_was_learned_holds_for_other_shapes(mesh_of):
    step = spmd.Step(lambda x, rate: x * rate, mesh_of(1))
    for size in (1, 2):
        for rate in (1.0, 2.0, 3.0):
            np.testing.assert_array_equal(step(jnp.ones(size), rate), np.full(size, rate))
    assert step.trace_count == 3  # one static, and one for each shape


def test_a_number_needed_for_another_shape_only(mesh_of):
    def pick(x, i):
        return x * i if x.ndim == 0 else x[range(4)[i]]

    step = spmd.Step(pick, mesh_of(1), options=QUIET)
    assert [float(step(jnp.float32(2), i)) for i in range(3)] == [0, 2, 4]
    assert [float(step(jnp.arange(4.0), i)) for i in range(3)] == [0, 1, 2]


def test_types_of_numbers_are_apart(mesh_of):
    step = spmd.Step(lambda x: x, mesh_of(1), options=QUIET)
    results = [step(x) for x in (1, 1.0, True, 2, 2.0, False, 3, 3.0)]
    assert [r.dtype.name for r in results] == ["int32", "float32", "bool"] * 2 + [
        "int32",
        "float32",
    ]
    assert step.trace_count == 6


def test_zero_has_a_sign_and_nan_is_itself(mesh_of):
    step = spmd.Step(lambda x, y: jnp.copysign(x, y), mesh_of(1))
    assert [float(step(1.0, y)) for y in (0.0, -0.0, 0.0)] == [1.0, -1.0, 1.0]
    other = spmd.Step(lambda x: x, mesh_of(1))
    for _ in range(3):
        assert np.isnan(float(other(float("nan"))))
    assert other.trace_count == 1


def test_integers_beyond_32_bits_stay_numbers(mesh_of):
    step = spmd.Step(lambda x, seed: x + seed % 7, mesh_of(1), options=QUIET)
    for seed in (1, 2, 2**50, 2**60, 3):
        assert float(step(jnp.float32(0), seed)) == seed % 7


def test_the_same_numbers_static_and_traced(mesh_of):
    def mixed(x, i, rate):
        return {
            "half": x.astype(jnp.bfloat16) * rate,
            "int": x.astype(jnp.int8) * i,
            "x": x**i * rate,
        }

    step = spmd.Step(mixed, mesh_of(2))
    x = jnp.arange(4.0)
    for i, rate in ((1, 0.1), (2, 0.2), (3, 0.3)):
        static = jax.jit(lambda x, i=i, rate=rate: mixed(x, i, rate))(x)
        for name, value in step(x, i, rate).items():
            assert value.dtype == static[name].dtype
            np.testing.assert_allclose(
                np.asarray(value, np.float64), np.asarray(static[name], np.float64), rtol=1e-6
            )


def test_errors_of_the_function_itself_are_raised_as_they_are(mesh_of):
    calls: list[Any] = []

    def fail(i):
        calls.append(i)
        raise KeyError("mine")

    step = spmd.Step(fail, mesh_of(1))
    for i in range(2):
        with pytest.raises(KeyError, match="mine") as caught:
            step(i)
        assert caught.value.__context__ is None
    assert calls[0] == 0
    assert calls[-1] == 1  # not a traced value


def test_a_failed_trace_leaves_the_state_alone(mesh_of):
    total = spmd.Variable(jnp.float32(0))

    def add(i):
        total.value = total.value + i
        return jnp.ones(3).reshape(i, -1).shape[0]

    step = spmd.Step(add, mesh_of(1))
    assert [int(step(i)) for i in (1, 3, 1)] == [1, 3, 1]
    assert float(total.value) == 5.0


def test_batches_with_a_fixed_number_take_the_short_way(mesh_of):
    mesh = mesh_of(2)
    step = spmd.Step(lambda x, scale, double: x * scale * (2 if double else 1), mesh)
    (batch,) = spmd.distribute(np.arange(4.0, dtype=np.float32), mesh, batch_size=4)
    step(batch, 3, True)
    assert spmd.gather(step.call_again((batch, 3, True))).tolist() == [0, 6, 12, 18]
    for other in (
        (batch, 4, True),
        (batch, 3, False),
        (batch, 3.0, True),
        (batch, 3),
        (batch, 3, 1),
    ):
        assert step.call_again(other) is spmd.step.NO_SHORTCUT


def test_ahead_of_time_a_number_is_static_and_a_description_is_not(mesh_of):
    step = spmd.Step(lambda x, i: x * i, mesh_of(1))
    x = jnp.ones(2)
    static = step.lower(x, 2).compile()
    assert static(x, 2).tolist() == [2, 2]
    with pytest.raises(spmd.errors.BatchError, match="other shapes, types or fixed values"):
        static(x, 3)
    traced = step.lower(x, jax.ShapeDtypeStruct((), jnp.int32, weak_type=True)).compile()
    assert [traced(x, i).tolist() for i in (3, 4)] == [[3, 3], [4, 4]]


def test_threads_agree_on_one_program(mesh_of):
    step = spmd.Step(lambda x, i: x * i, mesh_of(1))
    results: dict[int, float] = {}

    def call(i):
        results[i] = float(step(jnp.float32(1), i))

    step(jnp.float32(1), 0)
    threads = [threading.Thread(target=call, args=(i,)) for i in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: float(i) for i in range(1, 9)}
    assert step.trace_count == 2


@pytest.mark.parametrize(
    ("sure", "maybe", "fails", "expected"),
    [
        ("", "", lambda s: False, ""),
        ("", "a", lambda s: False, "a"),
        ("", "a", lambda s: "a" in s, ""),
        ("", "abc", lambda s: "b" in s, "ac"),
        ("a", "b", lambda s: "b" in s, "a"),
        ("a", "b", lambda s: "a" in s, "b"),
        ("a", "bc", lambda s: {"a", "b"} <= set(s), "ac"),
        ("", "ab", lambda s: {"a", "b"} <= set(s), "a"),
        ("", "abcdefgh", lambda s: "h" in s, "abcdefg"),
    ],
)
def test_most_traced(sure, maybe, fails, expected):
    tried: list[Any] = []

    def build(traced):
        tried.append("".join(traced))
        if fails(traced):
            raise ValueError
        return "".join(traced)

    made, traced = most_traced(build, list(sure), list(maybe))  # type: ignore[arg-type]
    assert (made, "".join(map(str, traced))) == (expected, expected)
    assert len(tried) == len(set(tried))


def test_many_numbers_are_not_tried_one_by_one():
    tried: list[Any] = []

    def build(traced):
        tried.append(traced)
        if traced:
            raise ValueError
        return "static"

    assert most_traced(build, [], list(map(str, range(500)))) == ("static", [])  # type: ignore[list-item]
    assert len(tried) == 10
