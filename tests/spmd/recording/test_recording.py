"""A recording's gradient is `jax.grad`'s, for the same work: eagerly and compiled, through every kind of
operation."""

import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import spmd
from spmd.recording import Recording, RowGradient


def _random(*shape):
    return jnp.asarray(np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32))


@jax.custom_vjp
def _clipped(x):
    return x * 2


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g * x, -1, 1),))


def _last_turn(w):
    """A scan of which only the carry is used."""
    return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), c), jnp.ones((2, 3)), None, 4)[0].sum()


def _rnn(w):
    def turn(carry, row):
        carry = jnp.tanh(carry @ w + row)
        return carry, carry.sum()

    return jax.lax.scan(turn, jnp.ones((2, 3)), _random(5, 2, 3))[1].sum()


CASES = {
    "product": (lambda x: (x * x * 3).sum(), _random(3)),
    "several sources": (lambda a, b: (jnp.tanh(a @ b) @ b.T).mean(), _random(4, 5), _random(5, 2)),
    "custom_jvp": (lambda x: jax.nn.relu(x).sum() + jax.nn.gelu(x).sum(), _random(5)),
    "custom_vjp": (lambda x: (_clipped(x) ** 2).sum(), _random(5)),
    "stop_gradient": (lambda x: (jax.nn.log_softmax(x) * jax.nn.logsumexp(x)).sum(), _random(2, 5)),
    "scan": (_rnn, _random(3, 3)),
    "scan's carry": (_last_turn, _random(3, 3)),
    "cond": (lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x).sum(), _random(3)),
    "fori_loop": (lambda x: jax.lax.fori_loop(0, 4, lambda i, c: c * x, x).sum(), _random(3)),
    "integers": (lambda x: x[jnp.argmax(x)] * 2 + jnp.sort(x)[1], _random(5)),
    "convolution": (
        lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME").sum() ** 2,
        _random(2, 3, 6, 6),
        _random(4, 3, 3, 3),
    ),
    "checkpoint": (lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)).sum())(x), _random(4)),
    "jit": (lambda x: jax.jit(lambda y: jnp.sin(y).sum() * y[0])(x), _random(4)),
    "handed on": (lambda x: sum(jax.jit(lambda y: (y, y * 2))(x)).sum(), _random(4)),
    "vmap": (lambda x: jax.vmap(lambda row: (row**3).sum())(x).sum(), _random(3, 2)),
    "gradient": (lambda x: (jax.grad(lambda y: (y**3).sum())(x) ** 2).sum(), _random(3)),
    "linear algebra": (lambda x: jnp.linalg.norm(x) + jnp.linalg.det(x), _random(3, 3)),
}


def _by_recording(function, *sources):
    recording = Recording()
    with recording.recording():
        target = function(*sources)
    return target, recording.gradient([target], sources)


def _by_jax(function, *sources):
    return jax.value_and_grad(function, argnums=tuple(range(len(sources))))(*sources)


def _assert_equal(found, expected):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5),
        jax.tree.leaves(found),
        jax.tree.leaves(expected),
    )


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_jax(name):
    function, *sources = CASES[name]
    expected = _by_jax(function, *sources)
    # Twice: what JAX has compiled for one recording must not slip by another one.
    _assert_equal(_by_recording(function, *sources), expected)
    _assert_equal(_by_recording(function, *sources), expected)
    _assert_equal(jax.jit(lambda *x: _by_recording(function, *x))(*sources), expected)


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_recording_does_the_work_of_value_and_grad(name):
    function, *sources = CASES[name]

    def work(by):
        compiled = jax.jit(lambda *x: by(function, *x)).lower(*sources).compile()
        return compiled.cost_analysis()["flops"]

    assert work(_by_recording) <= 1.02 * work(_by_jax)


def test_an_inner_recording_is_differentiated_by_an_outer_one():
    x = jnp.float32(2.0)
    outer = Recording()
    with outer.recording():
        inner = Recording()
        with inner.recording():
            y = x**3
        (first,) = inner.gradient([y], [x])
    assert float(first) == pytest.approx(12.0)
    assert float(outer.gradient([first], [x])[0]) == pytest.approx(12.0)


def test_sources_that_the_target_does_not_depend_on_have_no_gradient():
    x, other = jnp.float32(2.0), jnp.float32(3.0)
    recording = Recording()
    with recording.recording():
        y = x * 2
        stopped = jax.lax.stop_gradient(other) * 2
    assert recording.gradient([y], [x, other])[1] is None
    assert recording.gradient([stopped], [other]) == [None]


def test_what_runs_while_paused_is_constant():
    x = jnp.float32(2.0)
    recording = Recording()
    with recording.recording():
        y = x * x
        with recording.paused():
            z = x * y
        total = y + z
    assert float(recording.gradient([total], [x])[0]) == 4.0


def test_weights_of_targets():
    x = _random(3)
    recording = Recording()
    with recording.recording():
        y, z = x**2, x * 3
    (gradient,) = recording.gradient([y, z], [x], [jnp.ones(3), jnp.full(3, 0.5)])
    np.testing.assert_allclose(gradient, 2 * x + 1.5, rtol=1e-6)


def test_an_operation_without_gradient_matters_to_who_asks_for_one():
    x = jnp.float32(2.0)
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    recording = Recording()
    with recording.recording():
        y = x * 2
        z = jax.pure_callback(lambda v: np.float32(v), shape, x)
    assert float(recording.gradient([y], [x])[0]) == 2.0
    with pytest.raises(ValueError, match="Pure callbacks do not support"):
        recording.gradient([z], [x])


def test_an_error_of_the_user_stays_the_users():
    recording = Recording()
    with pytest.raises(TypeError, match="incompatible shapes"), recording.recording():
        jnp.ones(3) + jnp.ones(4)


def test_a_recording_that_is_kept_keeps_no_variable_that_is_written_later():
    recording = Recording()
    with recording.recording():
        pass
    for start in range(3):  # the next one may have the id of the last
        variable = spmd.Variable(jnp.full(2, start))
        variable.value = jnp.zeros(2)
        assert [list(one) for one in recording.former(variable)] == [[start, start]]
        gone = weakref.ref(variable)
        del variable
        assert gone() is None


def test_flax_modules_may_change_under_a_recording():
    model = nnx.Sequential(
        nnx.Linear(3, 4, rngs=nnx.Rngs(0)),
        nnx.BatchNorm(4, rngs=nnx.Rngs(0)),
        nnx.Dropout(0.5, rngs=nnx.Rngs(1)),
    )
    before = np.asarray(model.layers[1].mean.get_value())
    recording = Recording()
    with recording.recording():
        loss = (model(_random(5, 3)) ** 2).sum()
    assert recording.gradient([loss], [model.layers[0].kernel.get_value()])[0].shape == (3, 4)
    assert np.any(np.asarray(model.layers[1].mean.get_value()) != before)


def test_a_step_runs_under_a_recording():
    step = spmd.Step(lambda x: spmd.all_reduce(x * 2), spmd.make_mesh(["cpu:0"]))
    recording = Recording()
    with recording.recording():
        assert float(step(jnp.float32(3.0))) == 6.0


def test_a_compiled_step_uses_a_recording_inside():
    def step(x):
        recording = Recording()
        with recording.recording():
            loss = (x**2).sum()
        return spmd.all_reduce(recording.gradient([loss], [x])[0])

    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    np.testing.assert_allclose(spmd.Step(step, mesh)(np.float32([1, 2])), [4.0, 8.0])


def rows_gradient(look_up, table, *others):
    """The gradient of what a function looks up, by rows and whole."""
    recording = Recording()
    with recording.recording():
        y = jnp.sum(look_up(table, *others) ** 3)
    by_rows = recording.gradient([y], [table], by_rows=True)[0]
    (whole,) = recording.gradient([y], [table])
    expected = jax.grad(lambda table: jnp.sum(look_up(table, *others) ** 3))(table)
    np.testing.assert_allclose(whole, expected, rtol=1e-6)
    return by_rows


TABLE = jnp.arange(12.0).reshape(6, 2) / 4
ROWS = jnp.array([[0, 3], [3, 5]])


@pytest.mark.parametrize(
    ("look_up", "rows"),
    {
        "take": (lambda t, i: jnp.take(t, i, axis=0), [0, 3, 3, 5]),
        "index": (lambda t, i: t[i], [0, 3, 3, 5]),
        "compiled": (jax.jit(lambda t, i: jnp.sin(t[i[0]]) * t[i[1]]), [0, 3, 3, 5]),
        "from_the_end": (lambda t, i: t[-i], [0, 3, 3, 1]),
        "clipped": (lambda t, i: jnp.take(t, i * 2, axis=0, mode="clip"), [0, 5, 5, 5]),
        "left_out": (lambda t, i: t.at[i * 2].get(mode="fill", fill_value=0), [0, 6, 6, 6]),
        "copied": (lambda t, i: jnp.copy(-t).astype(jnp.float16)[i], [0, 3, 3, 5]),
        "joined": (lambda t, i: jnp.concatenate([t[:2] * 2, t])[i], None),
        "twice": (lambda t, i: t[i] * t[i[::-1]], [0, 3, 3, 5, 3, 5, 0, 3]),
    }.values(),
)
def test_the_gradient_of_a_table_is_made_of_the_rows_that_were_looked_up(look_up, rows):
    found = rows_gradient(look_up, TABLE, ROWS)
    if rows is None:  # the table is sliced as well
        assert isinstance(found, jax.Array)
        return
    assert isinstance(found, RowGradient)
    assert (found.indices.tolist(), found.shape) == (rows, (6, 2))
    assert not np.any(np.asarray(found.values)[np.asarray(rows) == 6])


@pytest.mark.parametrize(
    "look_up",
    [
        lambda t, i: t[i] + t.sum(),
        lambda t, i: (t * 2)[i],
        lambda t, i: t.T[i % 2],
        lambda t, i: t[1:3] + t[0],
        lambda t, i: jax.nn.relu(t)[i],
        lambda t, i: jax.lax.map(lambda one: t[one], i),
    ],
)
def test_the_gradient_of_a_table_with_another_use_is_whole(look_up):
    assert isinstance(rows_gradient(look_up, TABLE, ROWS), jax.Array)


def test_parts_of_an_array_have_their_rows():
    table, other = TABLE, TABLE * 3
    recording = Recording()
    with recording.recording():
        y = jnp.sum(jnp.concatenate([table, other])[jnp.array([1, 7, 11])] ** 2)
    found = recording.gradient([y], [table, other], by_rows=True)
    assert [one.indices.tolist() for one in found] == [[1, 6, 6], [6, 1, 5]]
    np.testing.assert_allclose(found[0].whole(), jnp.zeros((6, 2)).at[1].set(2 * table[1]))
    assert not np.any(found[0].values[1:])


def test_gradients_of_gradients_of_rows():
    outer, inner = Recording(), Recording()
    with outer.recording():
        with inner.recording():
            y = jnp.sum(TABLE[ROWS] ** 3)
        (found,) = inner.gradient([y], [TABLE], by_rows=True)
        z = jnp.sum(found.values)
    (second,) = outer.gradient([z], [TABLE])
    np.testing.assert_allclose(second, jnp.zeros((6, 2)).at[ROWS].add(6 * TABLE[ROWS]), rtol=1e-6)
