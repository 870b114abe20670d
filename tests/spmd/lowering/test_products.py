"""Matrix products without copies that exchange axes: the same numbers, and operands as they lie in memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.extend.core import jaxpr_as_fun
from jax.sharding import PartitionSpec as P

from spmd.lowering import products
from spmd.lowering.products import direct_products
from tests.spmd.lowering.rewrites import numbers


@pytest.fixture(autouse=True)
def small_products(monkeypatch):
    monkeypatch.setattr(products, "_MIN_WORK", 0)


def both(function, *operands):
    """Runs a function as JAX traces it and with the pass; and lists the axes that the products in it sum over."""
    program = jax.make_jaxpr(function)(*operands)
    better = direct_products(program)
    leaves = jax.tree.leaves(operands)
    results = [jax.jit(jaxpr_as_fun(one))(*leaves) for one in (program, better)]
    taken = [
        one.params["jaxpr"].eqns
        for one in better.eqns
        if one.params.get("name") == "direct_product"
    ]
    summed = [
        one.params["dimension_numbers"][0]
        for equations in taken
        for one in equations
        if one.primitive.name == "dot_general"
    ]
    return *results, summed


def agree(plain, better):
    for expected, actual in zip(plain, better, strict=True):
        assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def loss(x, kernel):
    return jnp.sin(x @ kernel).sum()


def test_the_gradient_by_a_kernel_is_a_product_of_what_lies_in_memory():
    plain, better, summed = both(jax.grad(loss, (0, 1)), numbers(2, 5, 3), numbers(3, 4, seed=1))
    agree(plain, better)
    assert summed == [((0,), (0,))]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_product_has_the_same_numbers(data):
    sizes = st.lists(st.integers(1, 3), min_size=1, max_size=3)
    summed, left, right = (data.draw(sizes, label=name) for name in ("summed", "left", "right"))
    order = data.draw(st.permutations(range(len(summed))))
    at_end = data.draw(st.booleans()), data.draw(st.booleans())
    shapes: list[list[int]] = []
    axes: list[tuple[int, ...]] = []
    for kept, last, of_sum in zip((left, right), at_end, (range(len(summed)), order), strict=True):
        start = len(kept) if last else 0
        axes.append(tuple(start + list(of_sum).index(one) for one in range(len(summed))))
        lengths = [summed[one] for one in of_sum]
        shapes.append([*kept, *lengths] if last else [*lengths, *kept])
    permutation = data.draw(
        st.one_of(
            st.permutations(range(len(left) + len(right))),
            st.just([*range(len(left), len(left) + len(right)), *range(len(left))]),
        )
    )

    def function(a, b):
        return jax.lax.dot_general(a, b, ((axes[0], axes[1]), ((), ()))).transpose(permutation)

    plain, better, _ = both(function, numbers(*shapes[0]), numbers(*shapes[1], seed=1))
    agree(plain, better)


def test_operands_of_other_shapes_have_programs_of_their_own():
    def function(a, b, kernel):
        return jax.grad(loss, 1)(a, kernel), jax.grad(loss, 1)(b, kernel)

    operands = numbers(2, 6, 3), numbers(3, 4, 3), numbers(3, 4, seed=1)
    plain, better, summed = both(function, *operands)
    agree(plain, better)
    assert len(summed) == 2


def test_a_result_that_others_read_stays():
    def function(x, kernel):
        product = jnp.tensordot(x, kernel, ((0, 1), (0, 1)))
        return product.T, product.sum()

    plain, better, summed = both(function, numbers(2, 5, 3), numbers(2, 5, 4, seed=1))
    agree(plain, better)
    assert summed == []


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda a, b: (a.T @ b).T, (numbers(3, 4), numbers(3, 5))),
        (lambda a, b: jnp.tensordot(a, b, 2), (numbers(2, 3, 4), numbers(3, 4, 5))),
        (lambda a, b: jnp.tensordot(a, b, 2).T, (numbers(2, 0, 3), numbers(0, 3, 2))),
        (
            lambda a, b: jnp.tensordot(a, b, 2).transpose(1, 0, 2),
            (numbers(2, 3, 4), numbers(3, 4, 5, 6)),
        ),
        (
            lambda a, b: jnp.einsum("nijh,nihk->nkj", a, b),
            (numbers(2, 3, 4, 5), numbers(2, 3, 5, 6)),
        ),
        (
            lambda a, b: jnp.tensordot(a, b, ((0, 2), (0, 1))).T,
            (numbers(2, 3, 4), numbers(2, 4, 5)),
        ),
        (
            lambda a, b: jnp.tensordot(a, b, 2).T,
            (numbers(2, 3, 4).astype(int), numbers(3, 4, 5).astype(int)),
        ),
    ],
    ids=["one axis", "not transposed", "empty", "other axes", "batches", "apart", "integers"],
)
def test_what_stays(function, operands):
    program = jax.make_jaxpr(function)(*operands)
    assert direct_products(program) is program


def test_small_products_stay(monkeypatch):
    monkeypatch.setattr(products, "_MIN_WORK", 2 * 5 * 3 * 4 + 1)
    program = jax.make_jaxpr(jax.grad(loss, 1))(numbers(2, 5, 3), numbers(3, 4))
    assert direct_products(program) is program


def test_in_loops_and_checkpoints():
    def step(x, kernel):
        def body(carry, _):
            return carry + jax.grad(jax.checkpoint(loss), 1)(x, carry), None

        return jax.lax.scan(body, kernel, None, length=3)[0]

    operands = numbers(2, 5, 4), numbers(4, 4, seed=1)
    plain, better, _ = both(step, *operands)
    agree(plain, better)
    assert "name=direct_product" in str(direct_products(jax.make_jaxpr(step)(*operands)))


@pytest.mark.parametrize("checked", [False, True])
def test_on_several_devices(checked):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("replica",))

    def run(x, kernel):
        return jax.lax.psum(jax.grad(loss, 1)(x, kernel), "replica")

    step = jax.shard_map(
        run, mesh=mesh, in_specs=(P("replica"), P()), out_specs=P(), check_vma=checked
    )
    operands = numbers(2, 5, 4), numbers(4, 4, seed=1)
    plain, better, _ = both(step, *operands)
    agree(plain, better)
    taken = "name=direct_product" in str(direct_products(jax.make_jaxpr(step)(*operands)))
    assert taken is not checked


def test_precision_and_type_of_the_result_are_kept():
    def function(x, above):
        options = {"precision": "highest", "preferred_element_type": jnp.float64}
        return jnp.tensordot(x, above, ((0, 1), (0, 1)), **options).T

    with jax.enable_x64(True):
        plain, better, summed = both(function, numbers(2, 5, 3), numbers(2, 5, 4))
    assert summed
    agree(plain, better)
