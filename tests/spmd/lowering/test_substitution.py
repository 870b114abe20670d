"""Operations replaced wherever they stand, and nothing else."""

import gc
import weakref

import jax
import jax.numpy as jnp

from spmd.lowering import Substitution


def without_negations(jaxpr, equation):
    return equation.invars if equation.primitive.name == "neg" else None


def values(function, *args):
    program = jax.make_jaxpr(function)(*args)
    better = program.replace(jaxpr=Substitution(without_negations).jaxpr(program.jaxpr))
    assert " neg " not in str(better)
    return jax.core.eval_jaxpr(better.jaxpr, better.consts, *args), better


def test_values_take_the_place_of_an_operation_in_loops_branches_and_calls():
    def function(x):
        x = jax.lax.fori_loop(0, 2, lambda _, value: -value + 1, -x)
        return jax.lax.cond(x > 0, lambda: -jax.jit(jnp.negative)(x), lambda: x)

    (result,), _ = values(function, 1.0)
    assert float(result) == 3.0


def test_a_program_without_the_operation_stays_the_same_object():
    program = jax.make_jaxpr(lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.0).jaxpr
    assert Substitution(without_negations).jaxpr(program) is program


def test_a_function_that_is_called_often_stays_one_program():
    inner = jax.jit(lambda x: jnp.sin(-x))
    _, better = values(lambda x: inner(inner(x)), 1.0)
    first, second = better.jaxpr.eqns
    assert first.params["jaxpr"] is second.params["jaxpr"]


def test_a_pass_keeps_no_program_alive():
    program = jax.make_jaxpr(lambda x: jax.jit(jnp.negative)(x))(1.0)
    substitution = Substitution(without_negations)
    substitution.jaxpr(program.jaxpr)
    alive = weakref.ref(substitution)
    gc.disable()
    try:
        del substitution
        assert alive() is None
    finally:
        gc.enable()
