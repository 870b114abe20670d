"""Functions that are converted only while a program is traced."""

import jax

from frontends.tf.autograph.converted import converted
from frontends.tf.autograph.status import is_marked


def half(x):
    """Halves what is large."""
    return x / 2 if x > 1 else x


def test_eager_calls_run_the_function_itself() -> None:
    calls = []
    run = converted(lambda x: calls.append(x))
    run(3)
    assert calls == [3]


def test_traced_calls_run_the_converted_form() -> None:
    run = converted(half)
    assert float(jax.jit(run)(4.0)) == 2
    assert (run.__name__, run.__doc__, run.__wrapped__) == ("half", half.__doc__, half)
    assert is_marked(run)
    assert converted(run) is run
