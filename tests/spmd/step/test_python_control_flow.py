"""Branches and loops in steps that run op by op: the results of the compiled ones, and values on the way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.step import cond, scan, switch, while_loop


def both(function, *args):
    step = spmd.Step(function, spmd.make_mesh(["cpu:0"]))
    compiled, plain = step(*args), step.op_by_op(*args)
    jax.tree.map(np.testing.assert_allclose, compiled, plain)
    return plain


@pytest.mark.parametrize("x", [-1.0, 2.0])
def test_cond(x):
    total = spmd.Variable(jnp.float32(0))

    def add(y):
        total.value = total.value + y
        return y

    both(lambda x: cond(x > 0, lambda: add(x), lambda: x * 3), jnp.float32(x))
    assert float(total.value) == max(0, 2 * x)


@pytest.mark.parametrize("index", [-5, 0, 1, 7])
def test_switch(index):
    both(lambda i: switch(i, [lambda: jnp.int32(4), lambda: jnp.int32(5)]), jnp.int32(index))


def test_while_loop():
    def body(x):
        return x * 2, {"last": x}

    last, other = both(lambda x: while_loop(lambda x: x < 100, body, x), jnp.int32(3))
    assert (int(last), int(other["last"])) == (192, 96)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limit", [4, 100])
def test_scan(reverse, limit):
    def body(total, x):
        return total + x, x * 10, total

    both(
        lambda rows: scan(body, jnp.int32(0), rows, test=lambda t: t < limit, reverse=reverse),
        jnp.arange(5),
    )


def test_python_code_sees_values():
    seen = []

    def body(x):
        seen.append(int(x))
        return x + 1, None

    step = spmd.Step(
        lambda: while_loop(lambda x: x < 3, body, jnp.int32(0)), spmd.make_mesh(["cpu:0"])
    )
    step.op_by_op()
    assert seen == [0, 1, 2]


def test_turns_that_there_were_none_of_leave_none():
    step = spmd.Step(
        lambda: scan(lambda c, x: (c, x, x), jnp.int32(1), jnp.arange(3), test=lambda c: c > 1)[1:],
        spmd.make_mesh(["cpu:0"]),
    )
    assert step.op_by_op() == (None, None)
