"""Keys that come back as other values of a trace."""

import jax

from spmd.step.random_keys import resolve_keys, returned_key


def chosen(function):
    keys = jax.random.key(0), jax.random.key(1)
    jaxpr = resolve_keys(jax.make_jaxpr(function)(*keys).jaxpr)
    assert not any(equation.primitive.name == "returned_key" for equation in jaxpr.eqns)
    return jaxpr.outvars[0] is jaxpr.invars[0]


def test_a_key_that_a_call_hands_back_is_the_shared_one():
    assert chosen(lambda shared, own: returned_key(shared, own, own))


def test_a_key_that_was_drawn_from_is_not():
    assert not chosen(lambda shared, own: returned_key(shared, own, jax.random.split(own)[0]))
