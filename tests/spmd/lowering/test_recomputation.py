"""Values computed once that XLA would compute again in each reader: the same numbers, and less work."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from jax.sharding import PartitionSpec as P

from spmd.lowering import recomputation
from spmd.lowering.recomputation import bound_recomputation

ROWS, WIDTH = 16, 8


@pytest.fixture(autouse=True)
def small_values(monkeypatch):
    for threshold in ("_MIN_ELEMENTS", "_SMALL_ELEMENTS"):
        monkeypatch.setattr(recomputation, threshold, ROWS * WIDTH)


def numbers(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def residual(x, weights):
    """Layers that add to what they read."""
    for weight in weights:
        x = x + jnp.tanh(x - x.mean(-1, keepdims=True)) @ weight
    return x


def loss_and_gradients(x, weights):
    return jax.value_and_grad(lambda weights: (residual(x, weights) ** 2).sum())(weights)


def count(program):
    """How many functions it has that are not inlined, those in loops and calls too."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    found = 0
    for equation in jaxpr.eqns:
        if equation.params.get("name") == "once":
            found += 1
            continue
        held = jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda one: isinstance(one, ClosedJaxpr | Jaxpr)
        )
        found += sum(count(one) for one in held if isinstance(one, ClosedJaxpr | Jaxpr))
    return found


def compiled_both(function, *operands):
    """Compiles a function as XLA fuses it, and with the pass; and counts what the pass took."""
    program = jax.make_jaxpr(function)(*operands)
    better = bound_recomputation(program)
    leaves = jax.tree.leaves(operands)
    plain, bounded = (
        jax.jit(jaxpr_as_fun(one)).lower(*leaves).compile() for one in (program, better)
    )
    return plain(*leaves), bounded(*leaves), count(better), (plain, bounded)


def assert_same(plain, better):
    for expected, actual in zip(plain, better, strict=True):
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def most_read(compiled):
    """The most arrays that one loop of a compiled program reads."""
    text = compiled.as_text()
    loops = [line for line in text.splitlines() if " fusion(" in line and "kind=kLoop" in line]
    return max(line.split(" fusion(")[1].split("), kind=")[0].count("%") for line in loops)


def test_no_layer_reads_more_however_deep_the_network():
    reads = []
    for depth in (12, 24):
        operands = numbers(ROWS, WIDTH), list(0.1 * numbers(depth, WIDTH, WIDTH))
        plain, better, taken, programs = compiled_both(loss_and_gradients, *operands)
        assert_same(plain, better)
        assert taken >= depth // 4
        reads.append([most_read(program) for program in programs])
    (plain_12, bounded_12), (plain_24, bounded_24) = reads
    assert plain_24 > plain_12 + 10
    assert bounded_24 == bounded_12 < plain_12


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_programs_of_any_form_keep_their_numbers(data):
    weights = 0.1 * numbers(6, WIDTH, WIDTH)
    choices = st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 20), st.integers(0, 20)),
        min_size=4,
        max_size=12,
    )
    plan = data.draw(choices)

    def run(x, y):
        values = [x, y]
        for kind, first, second in plan:
            a, b = values[first % len(values)], values[second % len(values)]
            values.append(
                [
                    lambda a, b: a + b,
                    lambda a, b: a * jnp.tanh(b),
                    lambda a, b: a @ weights[0] + b,
                    lambda a, b: jnp.where(a > b, a, b),
                    lambda a, b: jax.nn.softmax(a - b),
                    lambda a, b: (a - b).sum(0) + b,
                    lambda a, b: jax.jit(lambda a, b: a - b / 2)(a, b),
                ][kind](a, b)
            )
            # Large numbers would hide errors, or be infinite.
            values[-1] = jnp.clip(values[-1], -3, 3)
        return values[-3:], sum(value.sum() for value in values)

    plain, better, _, _ = compiled_both(run, numbers(ROWS, WIDTH), numbers(ROWS, WIDTH, seed=1))
    assert_same(plain, better)


def test_values_in_loops_and_calls_are_found():
    def run(x, weights):
        def step(x, _):
            return jax.jit(residual)(x, weights), None

        return jax.lax.scan(step, x, None, length=2)[0]

    plain, better, taken, _ = compiled_both(
        run, numbers(ROWS, WIDTH), 0.1 * numbers(8, WIDTH, WIDTH)
    )
    assert_same(plain, better)
    assert taken >= 2


def densely_connected(x, weights):
    """Layers that read what all layers before them gave."""
    for weight in weights:
        x = jnp.concatenate([x, jnp.tanh(x * 1.1) @ weight], -1)
    return x


@pytest.mark.parametrize("depth", [16, 24])
def test_gradients_of_densely_connected_layers_are_sums_of_few(depth):
    weights = [0.1 * numbers(WIDTH * (i + 1), WIDTH, seed=i) for i in range(depth)]

    def loss_and_gradients(x, weights):
        return jax.value_and_grad(lambda w: (densely_connected(x, w) ** 2).sum())(weights)

    plain, better, taken, programs = compiled_both(
        loss_and_gradients, numbers(ROWS, WIDTH), weights
    )
    assert_same(plain, better)
    assert taken >= depth // 4
    in_plain, in_bounded = map(most_read, programs)
    assert in_bounded <= 14 < in_plain


@pytest.mark.parametrize("sources", [11, 12])
def test_a_small_value_is_computed_once_if_it_has_many_sources(sources, monkeypatch):
    monkeypatch.setattr(recomputation, "_MIN_ELEMENTS", ROWS * WIDTH + 1)

    def run(values):
        total = jnp.zeros((ROWS, WIDTH))
        for value in values:
            total = total + value
        return total, total.T @ total

    values = [numbers(ROWS, WIDTH, seed=seed) for seed in range(sources)]
    plain, better, taken, _ = compiled_both(run, values)
    assert_same(plain, better)
    assert taken == (sources == 12)


def test_adam_stays_one_loop():
    def run(parameter, first, second, gradient):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        return parameter - first / (jnp.sqrt(second) + 1e-7), first, second

    operands = [numbers(ROWS, WIDTH, seed=seed) for seed in range(4)]
    program = jax.make_jaxpr(run)(operands[0], operands[1], operands[2] ** 2, operands[3])
    assert bound_recomputation(program) is program


def test_a_call_without_results_stays():
    def run(x):
        jax.jit(lambda x: None)(x)
        return x

    program = jax.make_jaxpr(run)(numbers(ROWS, WIDTH))
    assert bound_recomputation(program) is program


def test_a_value_with_one_reader_stays():
    def run(values, weight):
        return sum(values) @ weight

    program = jax.make_jaxpr(run)([numbers(ROWS, WIDTH)] * 8, numbers(WIDTH, WIDTH))
    assert bound_recomputation(program) is program


@pytest.mark.parametrize(
    "convert", [lambda x: x[:1], lambda x: x.astype(jnp.int32)], ids=["small", "whole numbers"]
)
def test_values_that_are_cheap_or_not_real_stay(convert):
    def run(values):
        total = sum(values)
        return total, total.T @ total

    program = jax.make_jaxpr(run)([convert(numbers(ROWS, WIDTH, seed=seed)) for seed in range(8)])
    assert bound_recomputation(program) is program


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_half_precision_is_rounded_alike(dtype):
    operands = numbers(ROWS, WIDTH).astype(dtype), (0.1 * numbers(6, WIDTH, WIDTH)).astype(dtype)
    plain, better, taken, _ = compiled_both(residual, *operands)
    assert taken
    assert better[0].dtype == dtype
    np.testing.assert_allclose(
        better[0].astype(np.float32), plain[0].astype(np.float32), rtol=0.05, atol=0.05
    )


@pytest.mark.parametrize("checked", [False, True])
def test_on_several_devices(checked):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("replica",))

    def run(x, weights):
        return jax.lax.psum(loss_and_gradients(x, weights)[0], "replica")

    step = jax.shard_map(
        run, mesh=mesh, in_specs=(P("replica"), P()), out_specs=P(), check_vma=checked
    )
    plain, better, taken, _ = compiled_both(
        step, numbers(2 * ROWS, WIDTH), 0.1 * numbers(8, WIDTH, WIDTH)
    )
    assert_same(plain, better)
    assert bool(taken) is not checked
