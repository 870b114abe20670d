"""Tracing: what a step that fails leaves behind, traces that JAX keeps, and which results have rows."""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def batches_of(rows: int, mesh: Mesh, batch_size: int = 4, features: int = 2) -> list[Any]:
    data = np.arange(rows * features, dtype=np.float32).reshape(rows, features)
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))


# A step that cannot be traced.


class Noisy(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.label = "before"
        self.parts = nnx.List([nnx.Linear(2, 2, rngs=rngs)])

    def __call__(self, x: Any) -> Any:
        return self.dropout(self.norm(self.linear(x)))


def snapshot(*things: Any) -> Any:
    """Everything about NNX objects: structure, static attributes, and the bits of every array."""
    graph, state = nnx.split(nnx.List(list(things)))

    def bits(leaf: Any) -> Any:
        typed = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if typed else leaf).tolist()

    return str(graph), jax.tree.map(bits, nnx.to_pure_dict(state))


class OnPurposeError(Exception):
    pass


@pytest.mark.parametrize(
    "fail",
    [
        lambda model, x: (_ for _ in ()).throw(OnPurposeError()),
        lambda model, x: jax.lax.scan(lambda c, r: (_ for _ in ()).throw(OnPurposeError()), 0.0, x),
        lambda model, x: nnx.grad(lambda m: (_ for _ in ()).throw(OnPurposeError()))(model),
        lambda model, x: jax.jit(lambda: (_ for _ in ()).throw(OnPurposeError()))(),
    ],
    ids=["plain", "in scan", "in nnx.grad", "in jit"],
)
def test_a_step_that_raises_leaves_everything_as_it_was(mesh_of: MeshOf, fail: Any) -> None:
    mesh = mesh_of(2)
    model = Noisy()
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    plain = spmd.Variable({"a": jnp.ones(2)})
    failing = True

    def train(x: Any) -> Any:
        gradients = nnx.grad(lambda m: spmd.average_loss(m(x).sum(1)))(model)
        optimizer.update(model, gradients)
        plain.value = {"a": plain.value["a"] + 1}
        if failing:
            model.label = "after"
            model.extra = nnx.Param(jnp.ones(3))
            model.parts.append(nnx.Linear(2, 2, rngs=nnx.Rngs(1)))
            del model.linear.bias
            fail(model, x)
        return plain.value["a"].sum()

    step = spmd.Step(train, mesh)
    batch = batches_of(4, mesh)[0]
    before, tx, array = snapshot(model, optimizer), optimizer.tx, plain.value["a"]
    attributes = dict(vars(model))
    for _ in range(2):
        with pytest.raises(OnPurposeError):
            step(batch)
        assert snapshot(model, optimizer) == before
        assert optimizer.tx is tx
        assert plain.value["a"] is array
        assert vars(model) == attributes
        assert not spmd.replica.in_replica()
    model(jnp.ones((2, 2)))  # works outside of a step as it did
    model.label = "before"
    before = snapshot(model, optimizer)
    failing = False
    assert float(step(batch)) == 4.0
    assert snapshot(model, optimizer) != before
    assert int(optimizer.step[...]) == 1


def test_a_refused_step_leaves_everything_as_it_was(mesh_of: MeshOf) -> None:
    # The proof fails after tracing went well.
    mesh = mesh_of(2)
    model = Noisy()
    before = snapshot(model)

    def train(x: Any) -> None:
        model(x)
        model.linear.kernel[...] = x[:2]

    step = spmd.Step(train, mesh)
    for _ in range(2):
        with pytest.raises(spmd.errors.ReplicaDivergenceError, match=r"model\.linear\.kernel"):
            step(batches_of(4, mesh)[0])
        assert snapshot(model) == before


def added_variable(model: Any) -> None:
    model.extra = nnx.Param(jnp.ones(3))


def added_submodule(model: Any) -> None:
    model.extra = nnx.Linear(2, 2, rngs=nnx.Rngs(0))


def added_to_a_list(model: Any) -> None:
    model.parts.append(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))


def sown(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Flax deprecate it
        model.sow(nnx.Intermediate, "activation", model.linear.kernel[...])


def replaced_by_an_array(model: Any) -> None:
    # Meant was model.linear.bias[...] = ...; this puts an array of the trace in its place.
    model.linear.bias = model.linear.bias[...] + 1


def replaced_by_another_variable(model: Any) -> None:
    model.linear.bias = nnx.Param(model.linear.bias[...] + 1)


def traced_static_attribute(model: Any) -> None:
    model.last = nnx.data(model.linear.bias[...].sum())


STRUCTURE_CHANGES = [
    added_variable,
    added_submodule,
    added_to_a_list,
    sown,
    replaced_by_an_array,
    replaced_by_another_variable,
    traced_static_attribute,
]


@pytest.mark.parametrize("change", STRUCTURE_CHANGES)
def test_a_module_must_not_gain_or_swap_state_in_a_step(mesh_of: MeshOf, change: Any) -> None:
    # Whatever it would hold after the step is a value of the trace, which is of no use to anybody.
    model = Noisy()
    before = snapshot(model)
    step = spmd.Step(lambda: change(model), mesh_of(2))
    with pytest.raises(spmd.errors.StateError):
        step()
    assert snapshot(model) == before


def test_the_error_about_a_gained_variable_names_it(mesh_of: MeshOf) -> None:
    model = Noisy()
    with pytest.raises(spmd.errors.StateError, match=r"Noisy\.extra \(a Param\)"):
        spmd.Step(lambda: added_variable(model), mesh_of(2))()


@pytest.mark.parametrize(
    ("new", "fix"),
    [(lambda x: x[:2], ".reshape(3,)"), (lambda x: x.astype(jnp.int32), ".astype('float32')")],
)
def test_a_variable_keeps_shape_and_type_in_a_step(mesh_of: MeshOf, new: Any, fix: str) -> None:
    variable = spmd.Variable(jnp.ones(3), name="weights")

    def step() -> None:
        variable.value = new(variable.value)

    with pytest.raises(spmd.errors.StateError) as error:
        spmd.Step(step, mesh_of(2))()
    assert "weights" in str(error.value)
    assert fix in str(error.value)
    assert __file__ in str(error.value)
    np.testing.assert_array_equal(variable.value, np.ones(3))


def test_a_variable_keeps_its_structure_in_a_step(mesh_of: MeshOf) -> None:
    variable = spmd.Variable({"a": jnp.ones(3)}, name="weights")

    def step() -> None:
        variable.value = {"b": jnp.ones(3)}

    with pytest.raises(spmd.errors.SpmdError, match="weights"):
        spmd.Step(step, mesh_of(2))()
    np.testing.assert_array_equal(variable.value["a"], np.ones(3))


# One step after another over the same state, with functions that JAX traces by itself.

shared = nnx.Linear(2, 2, rngs=nnx.Rngs(0))


@jax.jit
def jitted(x: Any) -> Any:
    return shared(x)


@jax.checkpoint
def checkpointed(x: Any) -> Any:
    return shared(x)


def scan_body(carry: Any, row: Any) -> Any:
    return carry + shared(row[None])[0], None


def while_body(carry: Any) -> Any:
    count, x = carry
    return count + 1, shared(x)


@jax.custom_vjp
def custom(x: Any) -> Any:
    return shared(x)


custom.defvjp(lambda x: (custom(x), None), lambda _, ct: (ct,))


def row_apply(row: Any) -> Any:
    return shared(row[None])[0]


def branch(x: Any) -> Any:
    return shared(x)


@nnx.jit
def nnx_jitted(model: Any, x: Any) -> Any:
    return model(x)


@nnx.remat
def nnx_remat(model: Any, x: Any) -> Any:
    return model(x)


def once(x: Any) -> Any:
    return shared(x).sum()


def twice(x: Any) -> Any:
    return shared(shared(x)).sum()


# What the step computes, and the same of one replica in plain operations. (Called eagerly, jax.jit and
# its like would themselves keep the model's first values.)
TRACED_INSIDE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "jit": (lambda x: jitted(x).sum(), once),
    "checkpoint": (lambda x: checkpointed(x).sum(), once),
    "gradient of checkpoint": (
        lambda x: jax.grad(lambda x: checkpointed(x).sum())(x).sum(),
        lambda x: shared.kernel[...].sum(),
    ),
    "scan": (lambda x: jax.lax.scan(scan_body, jnp.zeros(2), x)[0].sum(), once),
    "while_loop": (
        lambda x: jax.lax.while_loop(lambda c: c[0] < 2, while_body, (0, x))[1].sum(),
        twice,
    ),
    "fori_loop": (lambda x: jax.lax.fori_loop(0, 2, lambda _, c: shared(c), x).sum(), twice),
    "cond": (lambda x: jax.lax.cond(x.sum() > 1e9, lambda x: x, branch, x).sum(), once),
    "map": (lambda x: jax.lax.map(row_apply, x).sum(), once),
    "vmap": (lambda x: jax.vmap(row_apply)(x).sum(), once),
    "custom_vjp": (lambda x: custom(x).sum(), once),
    "nnx.jit": (lambda x: nnx_jitted(shared, x).sum(), once),
    "nnx.remat": (lambda x: nnx_remat(shared, x).sum(), once),
    "nnx.vmap": (lambda x: nnx.vmap(row_apply)(x).sum(), once),
    "nnx.grad of nnx.jit": (
        lambda x: nnx.grad(lambda m: nnx_jitted(m, x).sum())(shared).kernel[...].sum(),
        lambda x: 2 * x.sum(),
    ),
    "solve": (
        lambda x: jnp.linalg.solve(shared.kernel[...] + 3 * jnp.eye(2), x.T).sum(),
        lambda x: np.linalg.solve(np.asarray(shared.kernel[...]) + 3 * np.eye(2), x.T).sum(),
    ),
    "sort": (
        lambda x: (jnp.sort(shared(x)[0]) * jnp.arange(2)).sum(),
        lambda x: np.max(shared(x)),
    ),
}


@pytest.mark.parametrize("how", TRACED_INSIDE)
def test_functions_that_jax_traces_by_itself_follow_the_state(mesh_of: MeshOf, how: str) -> None:
    # JAX remembers its traces by the function. State of one step must not stick to them.
    mesh = mesh_of(2)
    compute, plain = TRACED_INSIDE[how]
    batch = batches_of(2, mesh, batch_size=2)[0]
    rows = np.arange(4, dtype=np.float32).reshape(2, 2)

    def check(step: Any) -> None:
        expected = sum(float(plain(row[None])) for row in rows)
        np.testing.assert_allclose(float(step(batch)), expected, rtol=1e-5, atol=1e-5)

    first = spmd.Step(lambda x: spmd.all_reduce(compute(x)), mesh)
    check(first)
    shared.kernel[...] = shared.kernel[...] + 0.25
    check(first)
    second = spmd.Step(lambda x: spmd.all_reduce(compute(x)), mesh)
    check(second)
    shared.kernel[...] = shared.kernel[...] - 0.25
    check(second)
    check(first)
    assert (first.trace_count, second.trace_count) == (1, 1)


# Results that have rows.


@pytest.mark.parametrize("features", [2, 3])
def test_sums_over_rows_are_not_taken_for_rows(mesh_of: MeshOf, features: int) -> None:
    # A replica's sums per feature: nothing of them is padding, also if there are as many as rows.
    mesh = mesh_of(2)
    step = spmd.Step(lambda x: jnp.where(spmd.valid_rows()[:, None], x, 0).sum(0), mesh)
    partial = batches_of(5, mesh, features=features)[1]  # one valid row, of 2 x 2
    result = step(partial)
    expected = np.arange(4.0 * features, 5.0 * features)
    np.testing.assert_allclose(spmd.reduce(result, "sum"), expected)
    assert [value.shape for value in spmd.step.local_values(result)] == [(features,)] * 2


# How often a replica's function is called: once for each program, and once more if its results may have rows.


class KeyedModel(nnx.Module):
    """Draws random numbers in a function that NNX transforms, which hands all variables back as others."""

    def __init__(self) -> None:
        self.linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
        self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(1))

    @nnx.jit
    def __call__(self, x: Any) -> Any:
        return self.dropout(self.linear(x))


def scalar(model: Any, x: Any) -> Any:
    return spmd.average_loss(model(x).sum(1))


def rows(model: Any, x: Any) -> Any:
    return model(x)


def as_long_as_rows(model: Any, x: Any) -> Any:
    return spmd.all_reduce(model(x).sum(0)), x.sum(0)


@pytest.mark.parametrize(
    ("function", "calls"),
    [(scalar, 1), (rows, 2), (as_long_as_rows, 2)],
    ids=["scalar", "rows", "as long as rows"],
)
@pytest.mark.parametrize("between", [False, True], ids=["replica", "between"])
def test_a_replica_s_function_is_called_at_most_twice(
    mesh_of: MeshOf, function: Any, calls: int, between: bool
) -> None:
    mesh = mesh_of(2)
    model = KeyedModel()
    count = [0]

    def replica(x: Any) -> Any:
        count[0] += 1
        return function(model, x)

    step: Any = spmd.Step(replica, mesh)
    if between:
        step = spmd.step.CrossReplicaStep(lambda x: spmd.run(replica, x), mesh)
    for batch in batches_of(4, mesh) * 2:
        step(batch)
    assert count[0] == calls
    assert step.trace_count == 1


def test_code_between_the_replicas_is_called_once(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    calls = [0]

    def program(x: Any) -> Any:
        calls[0] += 1
        first = spmd.run(lambda x: x * 2, x)
        sums = spmd.run(lambda x: jnp.where(spmd.valid_rows()[:, None], x, 0).sum(0), first)
        # As long as a block has rows, but no rows: its entries are all valid.
        return spmd.reduce(first, "sum", axis=0), spmd.reduce(sums, "mean", axis=0)

    step = spmd.step.CrossReplicaStep(program, mesh)
    total, mean = step(batches_of(5, mesh)[1])  # one valid row, of 2 x 2
    np.testing.assert_allclose(total, [16.0, 18.0])
    np.testing.assert_allclose(mean, (16.0 + 18.0) / 4)
    assert calls == [2], "once more because the batch is padded"
    step(batches_of(4, mesh)[0])
    assert calls == [2]


def test_a_model_that_is_built_by_its_first_step_counts_as_one_more_call(mesh_of: MeshOf) -> None:
    model, calls = keras.Sequential([keras.layers.Dense(2)]), [0]

    def train(x: Any) -> Any:
        calls[0] += 1
        return spmd.all_reduce(spmd.average_loss(model(x).sum(1)))

    step = spmd.Step(train, mesh_of(2))
    for batch in batches_of(4, step.mesh) * 2:
        step(batch)
    assert calls == [2]


@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "dropped"])
def test_a_step_that_makes_variables_is_asked_for_a_row_more_once(
    mesh_of: MeshOf, keeps: bool
) -> None:
    # Called to learn of the variables, for the program, and with a row more.
    mesh, held, count = mesh_of(2), dict[str, Any](), [0]

    def step(x: Any) -> Any:
        count[0] += 1
        total = held.get("total")
        if total is None:
            with jax.ensure_compile_time_eval():
                total = spmd.Variable(jnp.zeros(2))
            total._made_in_step()
            if keeps:
                held["total"] = total
        sums = jnp.where(spmd.valid_rows()[:, None], x, 0).sum(0)
        total.value = total.value + spmd.all_reduce(sums)
        return x, sums

    run = spmd.Step(step, mesh)
    full, partial = batches_of(5, mesh)  # 2 x 2 rows, and one
    run(full)
    assert count == [3]
    rows, sums = run(partial)
    assert spmd.gather(rows).shape == (1, 2)
    np.testing.assert_allclose(spmd.reduce(sums, "sum"), [8.0, 9.0])
    assert not keeps or held["total"].value.tolist() == [20.0, 25.0]


def test_looking_at_a_row_more_leaves_no_trace(mesh_of: MeshOf) -> None:
    # State, random streams and what gradients were summed are as if the function had been called once.
    mesh = mesh_of(2)
    seen = spmd.Variable(jnp.zeros(()), kind="sum", name="seen")
    model = KeyedModel()
    before = int(model.dropout.rngs.count[...])

    def predict(x: Any) -> Any:
        seen.value = seen.value + spmd.valid_rows().sum()
        return model(x)

    step = spmd.Step(predict, mesh)
    full, partial = batches_of(5, mesh)
    assert spmd.gather(step(full)).shape == (4, 2)
    assert spmd.gather(step(partial)).shape == (1, 2)
    assert float(seen.value) == 5
    assert int(model.dropout.rngs.count[...]) == before + 2


def test_a_function_that_fails_for_other_shapes_is_judged_by_length(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)

    def fixed(x: Any) -> Any:
        return x + jnp.zeros((2, 2))

    step = spmd.Step(fixed, mesh)
    assert spmd.gather(step(batches_of(5, mesh)[1])).shape == (1, 2)


@pytest.mark.parametrize("draws", [1, 3])
def test_runs_that_hand_keys_back_draw_from_the_same_stream(mesh_of: MeshOf, draws: int) -> None:
    """A second run folds the key that all replicas share, not the first replica's."""
    mesh = mesh_of(2)
    drawn: list[Any] = []
    for program in (1, 2):
        model = KeyedModel()

        def replica(x: Any, model: Any = model) -> Any:
            return model(x).sum()

        x = batches_of(4, mesh)[0]
        if program == 1:
            steps = spmd.Step(replica, mesh, keep_per_replica=True)
            drawn.append([np.asarray(steps(x).values) for _ in range(draws)])
        else:
            several = spmd.step.CrossReplicaStep(
                lambda x, replica=replica: [spmd.run(replica, x) for _ in range(draws)], mesh
            )
            drawn.append([np.asarray(result.values) for result in several(x)])
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-6)


def test_a_mask_that_changes_a_shape_says_what_to_write_instead(mesh_of: MeshOf) -> None:
    def mean_of_positive(x: jax.Array) -> jax.Array:
        return jnp.mean(jnp.asarray(x).at[x > 0].get())

    step = spmd.Step(mean_of_positive, mesh_of(1))
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError) as caught:
        step(jnp.asarray([1.0, -1.0]))
    assert "'mean_of_positive' is compiled for fixed shapes" in str(caught.value.__notes__)
    assert any(entry.name == "mean_of_positive" for entry in caught.traceback)
