"""Operations that are done once."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from spmd.step.shared_operations import SharedOperations


def equations(function, *args):
    return jax.make_jaxpr(function)(*args).eqns


def test_the_same_operation_on_the_same_operands_is_done_once():
    shared, x, y = SharedOperations(), jnp.ones(2), jnp.ones(2)
    (sine,), (again,), (cosine,) = (equations(f, x) for f in (lax.sin, lax.sin, lax.cos))
    done = []

    def bind(equation):
        def call(*operands):
            done.append(equation)
            return [equation.primitive.bind(*operands, **equation.params)]

        return call

    first = shared.operation(sine, [x], bind(sine))
    assert shared.operation(again, [x], bind(again)) is first
    shared.operation(cosine, [x], bind(cosine))
    shared.operation(sine, [y], bind(sine))  # an equal array is another one
    assert done == [sine, cosine, sine]


def test_a_program_inside_knows_what_was_done_outside_and_keeps_its_own():
    outside, x = SharedOperations(), jnp.ones(2)
    inside = SharedOperations(outside)
    total = outside.once("sum", [x], x.sum)
    assert inside.once("sum", [x], x.sum) is total
    product = inside.once("prod", [x], x.prod)
    assert outside.once("prod", [x], x.prod) is not product
    assert inside.constant(np.float32(3)) is outside.constant(np.float32(3))


def test_constants_are_known_by_type_and_content():
    shared = SharedOperations()
    zero = shared.constant(np.zeros(2, np.float32))
    assert shared.constant(jnp.zeros(2)) is zero
    others = np.zeros(2, np.int32), np.zeros((2, 1), np.float32), np.array([0.0, -0.0], np.float32)
    assert all(shared.constant(other) is not zero for other in others)
