"""What a program computes once, before it runs."""

import jax
import numpy as np
import pytest
from jax.core import Tracer

from frontends import tf


def test_outside_of_programs_nothing_changes() -> None:
    tf.random.set_seed(5)
    expected = np.asarray(tf.random.normal([3]))
    tf.random.set_seed(5)
    with tf.init_scope():
        np.testing.assert_array_equal(tf.random.normal([3]), expected)


@pytest.mark.parametrize("program", [tf.function, jax.jit])
def test_a_program_computes_it_at_once(program) -> None:
    seen = []

    @program
    def step(x):
        with tf.init_scope():
            seen.extend([tf.range(3) * 2, tf.random.normal([2]), x + 1])
        return x + seen[0]

    np.testing.assert_array_equal(step(tf.constant(1)), [1, 3, 5])
    table, drawn, argument = seen
    np.testing.assert_array_equal(table, [0, 2, 4])
    assert not isinstance(drawn, Tracer)
    assert isinstance(argument, Tracer)


def test_replicas_draw_the_same_and_each_draw_is_another_one() -> None:
    """Also with the seed of an operation."""
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    seen = []

    def step():
        with tf.init_scope():
            seen.extend(
                [tf.random.normal([2]), tf.random.normal([2]), tf.random.normal([2], seed=3)]
            )
        return seen[0]

    results = strategy.experimental_local_results(strategy.run(step))
    np.testing.assert_array_equal(results[0], results[1])
    assert len({tuple(np.asarray(one)) for one in seen}) == len(seen) == 3


def test_a_seed_decides_what_is_drawn() -> None:
    def draw():
        seen = []

        @tf.function
        def step():
            with tf.init_scope():
                seen.append(np.asarray(tf.random.normal([2])))

        step()
        return seen[0]

    tf.random.set_seed(1)
    first, second = draw(), draw()
    tf.random.set_seed(1)
    np.testing.assert_array_equal(draw(), first)
    assert not np.array_equal(first, second)


def test_a_seeded_initial_value_is_the_same_in_every_process(run_python):
    program = (
        "from frontends import tf\n"
        "@tf.function\n"
        "def drawn():\n"
        "    with tf.init_scope():\n"
        "        values = tf.random.normal([2], seed=1)\n"
        "    return values\n"
        "print(drawn().numpy().tolist())\n"
    )
    first, second = (run_python("-c", program).stdout for _ in range(2))
    assert first.strip() == second.strip() != ""
