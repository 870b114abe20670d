"""`tf.random.normal` and its kin: their ranges, and which numbers repeat, in steps and between them."""

import concurrent.futures

import jax
import numpy as np
import pytest

from frontends import tf


@pytest.fixture(autouse=True)
def _no_seed_left_behind():
    yield
    tf.random.set_seed(None)


def _strategy(replicas=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])


def test_what_is_drawn():
    n = [4000]
    normal = tf.random.normal(n, mean=3.0, stddev=2.0)
    assert (normal.shape, normal.dtype) == ((4000,), tf.float32)
    np.testing.assert_allclose([normal.mean(), normal.std()], [3, 2], atol=0.2)
    truncated = tf.random.truncated_normal(n, stddev=0.5)
    assert 0.9 < np.abs(truncated).max() <= 1.0
    uniform = tf.random.uniform(n, -1.0, 3.0)
    assert -1 <= uniform.min() < -0.9
    assert 2.9 < uniform.max() < 3
    integers = tf.random.uniform(n, 2, 5, dtype=tf.int32)
    assert sorted(set(integers.tolist())) == [2, 3, 4]
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype int32"):
        tf.random.uniform([1], dtype=tf.int32)
    shuffled = tf.random.shuffle(np.arange(20))
    assert sorted(shuffled.tolist()) == list(range(20))
    drawn = tf.random.categorical(np.float32([[0, -100], [-100, 0]]), 5)
    assert drawn.tolist() == [[0] * 5, [1] * 5]
    with pytest.raises(ValueError, match="should be a matrix"):
        tf.random.categorical(np.zeros(3), 1)


def test_the_same_seed_gives_the_same_numbers():
    def numbers():
        tf.random.set_seed(5)
        return [tf.random.normal([3]).tolist(), tf.random.uniform([3], seed=1).tolist()]

    first = numbers()
    assert numbers() == first
    assert first[0] != tf.random.normal([3]).tolist()
    tf.random.set_seed(6)
    assert tf.random.normal([3]).tolist() != first[0]


def test_stateless_numbers_depend_on_their_seed_alone():
    draw = tf.random.stateless_normal
    assert draw([3], seed=[1, 2]).tolist() == draw([3], seed=[1, 2]).tolist()
    assert draw([3], seed=[1, 2]).tolist() != draw([3], seed=[2, 2]).tolist()
    assert 0 <= float(tf.random.stateless_uniform([], seed=[1, 2])) < 1
    assert int(tf.random.stateless_uniform([], [1, 2], 3, 4, dtype=tf.int32)) == 3


@pytest.mark.parametrize("compiled", [True, False])
def test_steps_draw_other_numbers_each_time_and_on_each_replica(compiled):
    strategy = _strategy()

    def program():
        return strategy.run(lambda: tf.random.normal([4]))

    program = tf.function(program) if compiled else program

    def numbers():
        tf.random.set_seed(3)
        return [np.asarray(value).tolist() for _ in range(3) for value in program().values]

    first = numbers()
    assert len({tuple(one) for one in first}) == 6
    assert numbers() == first


def test_importing_draws_nothing_and_unknown_names_help():
    with pytest.raises(AttributeError, match=r"tf\.random\.normals"):
        _ = tf.random.normals
    assert "normal" in dir(tf.random)


def test_a_step_that_draws_is_traced_once():
    @tf.function
    def step(x):
        return x + tf.random.uniform([])

    results = {float(step(jax.numpy.float32(0))) for _ in range(5)}
    assert len(results) == 5
    assert step.experimental_get_tracing_count() == 1


def test_dropout():
    dropped = np.asarray(tf.nn.dropout(np.full((100, 100), 2.0, np.float32), 0.25))
    assert sorted(set(dropped.ravel().tolist())) == pytest.approx([0, 2 / 0.75])
    assert 0.2 < (dropped == 0).mean() < 0.3
    rows = np.asarray(tf.nn.dropout(np.ones((50, 4), np.float32), 0.5, noise_shape=[50, 1]))
    assert all(len(set(row)) == 1 for row in rows.tolist())
    with pytest.raises(ValueError, match=r"in the range \[0, 1\)"):
        tf.nn.dropout(np.ones(2), 1.5)


def test_a_seed_set_again_starts_everything_anew():
    def numbers():
        tf.random.set_seed(7)
        shuffled = [int(x) for x in tf.data.Dataset.range(9).shuffle(9)]
        return tf.random.normal([2]).tolist(), shuffled, tf.random.uniform([1]).tolist()

    assert numbers() == numbers() == numbers()


def test_threads_draw_different_numbers():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: float(tf.random.uniform([])), range(100)))
    assert len(set(drawn)) == 100


def test_dropout_takes_floats_and_unknown_sizes():
    rows = tf.nn.dropout(np.ones((20, 3), np.float32), 0.5, noise_shape=[None, 1])
    assert all(len(set(row)) == 1 for row in rows.tolist())
    with pytest.raises(ValueError, match="floating point"):
        tf.nn.dropout(np.ones(3, np.int32), 0.5)


def test_integers_need_an_upper_limit():
    for draw in (
        tf.random.uniform,
        lambda *a, **k: tf.random.stateless_uniform(*a, seed=[1, 2], **k),
    ):
        with pytest.raises(ValueError, match="Must specify maxval for integer dtype int32"):
            draw([2], dtype=tf.int32)
        assert draw([2], maxval=[3, 4], dtype=tf.int32).dtype == tf.int32
        assert draw([2], minval=[0.0, 1.0], maxval=[1.0, 2.0])[1] >= 1


def test_a_function_that_is_traced_draws_nothing_and_leaves_the_stream_as_it_was():
    tf.random.set_seed(3)
    first = tf.random.uniform([2])
    tf.random.set_seed(3)
    with pytest.raises(RuntimeError, match=r"is not called again.*stateless_uniform"):
        jax.jit(lambda x: x + tf.random.uniform([2]))(1.0)
    np.testing.assert_array_equal(tf.random.uniform([2]), first)


def test_gamma_and_poisson_numbers_have_the_shape_of_their_parameters_at_last():
    tf.random.set_seed(2)
    drawn = tf.random.gamma([4000], [0.5, 2.0, 9.0], [1.0, 4.0, 3.0])
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose(np.mean(drawn, axis=0), [0.5, 0.5, 3], rtol=0.1)
    np.testing.assert_allclose(np.var(drawn, axis=0), [0.5, 0.125, 1], rtol=0.2)
    counts = tf.random.poisson([4000], [0.5, 20.0], dtype=tf.int32)
    assert (counts.shape, counts.dtype) == ((4000, 2), np.int32)
    np.testing.assert_allclose(np.mean(counts, axis=0), [0.5, 20], rtol=0.1)
    np.testing.assert_allclose(np.var(counts, axis=0), [0.5, 20], rtol=0.2)
    assert tf.random_poisson([0.5, 20.0], [3]).shape == (3, 2)
    assert tf.random_gamma([3], 2.0).shape == (3,)


def test_nothing_is_dropped_of_any_number_of_rows():
    """TensorFlow 1's scripts write keep_prob=1.0 where they export."""
    rows = jax.export.symbolic_shape("rows, 3")
    x = jax.ShapeDtypeStruct(rows, np.float32)
    exported = jax.export.export(jax.jit(lambda x: tf.nn.dropout(x, 0.0)))(x)
    assert np.array_equal(exported.call(np.ones((2, 3), np.float32)), np.ones((2, 3)))
