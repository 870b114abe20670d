"""Programs that take rows of tables in place of the tables."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from spmd.lowering import find_tables, with_rows
from spmd.state import SparseRows

TABLE = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
NUMBERS = np.array([[3, 7], [3, 49], [0, 3]], np.int32)


def lookups(function, *operands, wanted=None):
    """Returns the shapes of what a function looks up in its first operand; None if that is no table."""
    jaxpr = jax.make_jaxpr(function)(TABLE, *operands).jaxpr
    found = find_tables(jaxpr, [0], range(len(jaxpr.outvars)) if wanted is None else wanted)
    return [lookup.shape for lookup in found[0]] if 0 in found else None


@pytest.mark.parametrize(
    "function",
    [
        lambda table, numbers: jnp.take(table, numbers, axis=0),
        lambda table, numbers: table[numbers],
        jax.jit(lambda table, numbers: jax.jit(lambda t: t[numbers])(table)),
        lambda table, numbers: table.astype(jnp.bfloat16)[numbers] + 1,
        jax.grad(lambda table, numbers: jnp.sum(table[numbers] ** 2)),
    ],
)
def test_a_table_is_looked_up(function):
    assert lookups(function, NUMBERS) == [(3, 2, 4)]


@pytest.mark.parametrize(
    "function",
    [
        lambda table, numbers: table[numbers].sum() + table.sum(),
        lambda table, numbers: (table * 2)[numbers],
        lambda table, numbers: table[:, numbers[0]],
        lambda table, numbers: (table[numbers], table),
        lambda table, numbers: jax.lax.scan(lambda c, n: (c, table[n]), 0, numbers)[1],
    ],
)
def test_what_is_used_in_another_way_is_no_table(function):
    assert lookups(function, NUMBERS) is None


def test_what_an_output_that_does_not_matter_needs_does_not_count():
    def function(table, numbers):
        return table - 1, table[numbers]

    assert lookups(function, NUMBERS) is None
    assert lookups(function, NUMBERS, wanted=[1]) == [(3, 2, 4)]


def run(function, *operands, sparse=()):
    """Runs a function with rows; returns what it gives."""
    closed = jax.make_jaxpr(function)(TABLE, *operands)
    wanted = range(len(closed.jaxpr.outvars))
    program = with_rows(closed, [0], wanted, sparse, [])
    assert program is not None
    reads, finds = program.used()
    assert 0 not in reads | finds
    inputs = [None, *operands]
    numbers = jax.jit(lambda *given: program.find([jnp.zeros_like(TABLE), *given]))(*inputs[1:])
    rows = [TABLE[np.asarray(one)] for one in numbers]
    flat = list(
        jax.jit(lambda given, rows: program.run([jnp.zeros_like(TABLE), *given], rows))(
            inputs[1:], rows
        )
    )
    return [
        SparseRows(flat.pop(0), flat.pop(0)) if output in program.sparse else flat.pop(0)
        for output in wanted
    ]


def dense(rows: SparseRows) -> np.ndarray:
    whole = np.zeros_like(TABLE)
    np.add.at(whole, np.asarray(rows.indices), np.asarray(rows.values, np.float32))
    return whole


def loss(table, weight, numbers):
    first, second = table[numbers], jnp.take(table, numbers[:, 0] + 1, axis=0)
    return jnp.mean((first @ weight) ** 2) + jnp.sum(jnp.tanh(second))


WEIGHT = np.ones((4, 1), np.float32)
LESS = NUMBERS % 40


@pytest.mark.parametrize(
    "change",
    [
        lambda gradient, scale: gradient,
        lambda gradient, scale: -gradient * 3,
        lambda gradient, scale: gradient * scale,
        lambda gradient, scale: scale * (gradient / 2 - gradient),
        lambda gradient, scale: jax.jit(lambda x: x * scale)(gradient).astype(jnp.bfloat16),
    ],
)
def test_gradients_are_sparse_and_equal(change):
    def step(table, weight, numbers):
        value, (of_table, of_weight) = jax.value_and_grad(loss, (0, 1))(table, weight, numbers)
        return value, change(of_table, of_weight[0, 0]), of_weight

    value, rows, of_weight = run(step, WEIGHT, LESS, sparse=[1])
    expected = jax.jit(step)(TABLE, WEIGHT, LESS)
    assert isinstance(rows, SparseRows)
    assert rows.indices.shape[0] in (9, 18)  # a difference has the rows of both
    np.testing.assert_allclose(value, expected[0], rtol=1e-6)
    tolerance = 1e-2 if rows.values.dtype == jnp.bfloat16 else 1e-5
    np.testing.assert_allclose(dense(rows), np.float32(expected[1]), tolerance, tolerance)
    np.testing.assert_allclose(of_weight, expected[2], rtol=1e-5)


def test_what_cannot_stay_sparse_is_dense_and_equal():
    def step(table, numbers):
        gradient = jax.grad(lambda t: jnp.sum(t[numbers] ** 2))(table)
        norm = jnp.sqrt(jnp.sum(gradient**2))
        return gradient / norm, jnp.maximum(gradient, 0.5), gradient + 1

    scaled, clipped, shifted = run(step, NUMBERS, sparse=[0, 1, 2])
    expected = jax.jit(step)(TABLE, NUMBERS)
    assert isinstance(scaled, SparseRows)
    np.testing.assert_allclose(dense(scaled), expected[0], rtol=1e-5)
    np.testing.assert_allclose(clipped, expected[1], rtol=1e-6)
    np.testing.assert_allclose(shifted, expected[2], rtol=1e-6)


def rows_of(table, numbers, mode="fill"):
    """Looks rows up by numbers of any type; those of `jnp` cast them first."""
    form = jax.lax.GatherDimensionNumbers((1,), (0,), (0,))
    return jax.lax.gather(table, numbers[:, None], form, (1, table.shape[1]), mode=mode)


LARGE = [3, 2**31, 2**32 + 3, 2**32 - 4, 2**63 - 1]


@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize(
    "numbers",
    [
        np.array([*LARGE, -1, -(2**32) + 3, -(2**63)], np.int64),
        np.array([*LARGE, 2**64 - 4], np.uint64),
        np.array([3, 2**31, 2**32 - 4], np.uint32),
        np.array([3, 255, 3], np.uint8),
    ],
    ids=lambda numbers: numbers.dtype.name,
)
def test_numbers_of_rows_that_are_too_large_stay_so(numbers, mode):
    def step(table, numbers):
        rows, pull = jax.vjp(lambda table: rows_of(table, numbers, mode), table)
        return rows, pull(jnp.ones_like(rows))[0]

    with jax.enable_x64(True):
        closed = jax.make_jaxpr(step)(TABLE, numbers)
        program = with_rows(closed, [0], [0, 1], [1], [])
        assert program is not None
        (found,) = program.find([jnp.zeros_like(TABLE), numbers])
        _, indices, values = program.run(
            [jnp.zeros_like(TABLE), numbers], [jnp.zeros((len(numbers), 4))]
        )
        _, gradient = jax.jit(step)(TABLE, numbers)
    expected = [min(max(int(number), -1), 50) for number in numbers]
    assert np.clip(found, -1, 50).tolist() == expected
    exists = (np.asarray(indices) >= 0) & (np.asarray(indices) < 50)
    whole = np.zeros_like(TABLE)
    np.add.at(whole, np.asarray(indices)[exists], np.asarray(values)[exists])
    np.testing.assert_array_equal(whole, gradient)


def test_a_table_of_very_many_rows_has_numbers_of_64_bits():
    table = jax.ShapeDtypeStruct((2**31 + 8, 2), jnp.float32)

    def step(table, numbers):
        rows, pull = jax.vjp(lambda table: rows_of(table, numbers), table)
        return pull(rows)[0]

    def traced(dtype):
        return jax.make_jaxpr(step)(table, jax.ShapeDtypeStruct((3,), dtype))

    assert find_tables(traced(jnp.int32).jaxpr, [0], [0]) == {}  # whose numbers go no further
    with jax.enable_x64(True):
        program = with_rows(traced(jnp.int64), [0], [0], [0], [])
        assert program is not None
        inputs = [None, jnp.array([2**31 + 1, 2**33, 5])]
        (found,) = jax.eval_shape(lambda n: program.find([table, n]), inputs[1])
        indices, _ = jax.eval_shape(
            lambda n, rows: program.run([table, n], [rows]), inputs[1], jnp.zeros((3, 2))
        )
    assert found.dtype == indices.dtype == jnp.int64


def test_gradients_of_parts_are_sparse_and_equal():
    def step(table, weight, numbers):
        gradient = jax.grad(loss)(table, weight, numbers)
        first, second = gradient[:7] * 2, gradient[7:] * 3
        return jnp.concatenate([first, jnp.zeros_like(table), second]), gradient[7:40]

    joined, part = run(step, WEIGHT, LESS, sparse=[0, 1])
    expected = jax.jit(step)(TABLE, WEIGHT, LESS)
    assert isinstance(joined, SparseRows)
    assert isinstance(part, SparseRows)
    for rows, whole in zip((joined, part), expected, strict=True):
        exists = np.asarray(rows.indices) < len(whole)
        assert (np.asarray(rows.indices) >= 0).all()
        found = np.zeros_like(whole)
        np.add.at(found, np.asarray(rows.indices)[exists], np.asarray(rows.values)[exists])
        np.testing.assert_allclose(found, whole, rtol=1e-5)


def test_what_is_no_slice_of_rows_is_dense_and_equal():
    def step(table, weight, numbers):
        gradient = jax.grad(loss)(table, weight, numbers)
        return gradient[::2], gradient[:, 1:], jnp.concatenate([gradient, table[numbers[0]]])

    found = run(step, WEIGHT, LESS, sparse=[0, 1, 2])
    for ours, expected in zip(found, jax.jit(step)(TABLE, WEIGHT, LESS), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5)


def test_what_is_not_finite_leaves_other_rows_alone():
    def step(table, numbers):
        gradient = jax.grad(lambda t: jnp.sum(t[numbers] ** 2))(table)
        return gradient * jnp.nan, gradient / 0.0, gradient * jnp.sum(numbers * jnp.inf)

    for rows in run(step, NUMBERS, sparse=[0, 1, 2]):
        assert isinstance(rows, SparseRows)
        assert not np.isfinite(rows.values).any()
        np.testing.assert_array_equal(rows.indices, NUMBERS.reshape(-1))


def test_a_gradient_of_no_row_has_none():
    def step(table, numbers):
        return jax.grad(lambda t: jnp.sum(numbers) * 1.0 + 0 * jnp.sum(t[numbers]))(table) * 0, (
            jnp.zeros_like(table)
        )

    first, second = run(step, NUMBERS, sparse=[0, 1])
    assert isinstance(first, SparseRows)
    assert not np.any(dense(first))
    assert not np.any(second)


def test_rows_that_depend_on_rows_are_left_alone():
    def hop(table, numbers):
        first = table[numbers]
        return table[jnp.argmax(first, -1)]

    closed = jax.make_jaxpr(hop)(TABLE, NUMBERS)
    assert set(find_tables(closed.jaxpr, [0], [0])) == {0}
    assert with_rows(closed, [0], [0], [], []) is None


def test_numbers_that_a_callback_gives_are_left_alone():
    def step(table, numbers):
        shape = jax.ShapeDtypeStruct(numbers.shape, numbers.dtype)
        return table[io_callback(lambda given: given, shape, numbers)]

    closed = jax.make_jaxpr(step)(TABLE, NUMBERS)
    assert set(find_tables(closed.jaxpr, [0], [0])) == {0}
    assert with_rows(closed, [0], [0], [], []) is None  # it would be called twice


def test_rows_are_rounded_as_their_table():
    def step(table, numbers):
        return jax.lax.reduce_precision(table, 8, 7)[numbers]

    (rounded,) = run(step, NUMBERS)
    expected = TABLE[NUMBERS].astype(jnp.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(rounded, expected)


def test_modes_of_missing_rows():
    def step(table, numbers):
        return (
            jnp.take(table, numbers, axis=0),
            jnp.take(table, numbers, axis=0, mode="clip"),
            jnp.take(table, numbers, axis=0, fill_value=5.0),
        )

    closed = jax.make_jaxpr(step)(TABLE, NUMBERS)
    filled, clipped, five = find_tables(closed.jaxpr, [0], [0, 1, 2])[0]
    assert filled.fill != filled.fill  # NaN
    assert clipped.fill is None
    assert five.fill == 5


def test_functions_with_derivatives_of_their_own():
    @jax.custom_jvp
    def double(x):
        return x * 2

    double.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * 2))

    def step(table, numbers):
        return double(table[numbers]), jax.nn.relu(jnp.arange(4.0))

    doubled, other = run(step, NUMBERS)
    np.testing.assert_array_equal(doubled, TABLE[NUMBERS] * 2)
    np.testing.assert_array_equal(other, np.arange(4.0))
