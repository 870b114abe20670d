"""Calling steps: how often they are traced, what may stand in them, and what they refuse."""

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def batches_of(rows: int, mesh: Mesh, batch_size: int = 4, features: int = 2) -> list[Any]:
    data = np.arange(rows * features, dtype=np.float32).reshape(rows, features)
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))


# How often a step is traced.


def test_a_thousand_steps_with_full_and_partial_batches_trace_once(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    calls = [0]
    total = spmd.Variable(jnp.zeros(()), kind="sum")

    def add(x: Any) -> None:
        calls[0] += 1
        total.value = total.value + jnp.where(spmd.valid_rows(), 1.0, 0.0).sum()

    step = spmd.Step(add, mesh)
    full, partial = batches_of(5, mesh)
    for turn in range(1000):
        step(partial if turn % 100 == 99 else full)
    # Once more for the first partial batch, to see whether it counts the rows of a block.
    assert (calls[0], step.trace_count) == (2, 1)
    assert float(total.value) == 990 * 4 + 10 * 1


def test_numbers_and_arrays_of_one_shape_trace_once(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x, rate: x * rate, mesh_of(2))
    for value in (1.0, 2.0, -0.5):
        np.testing.assert_allclose(step(jnp.ones(3), value), np.full(3, value))
        np.testing.assert_allclose(step(np.ones(3, np.float32), rate=value), np.full(3, value))
    # `rate` by position, and by name; each first as the number 1.0, and then as any number.
    assert step.trace_count == 4


def test_fixed_values_make_programs_of_their_own(mesh_of: MeshOf) -> None:
    calls: list[Any] = []

    def choose(x: Any, *, double: bool, how: str) -> Any:
        calls.append((double, how))
        return x * 2 if double else x

    step = spmd.Step(choose, mesh_of(2))
    for _ in range(2):
        assert float(step(3.0, double=True, how="a")) == 6.0
        assert float(step(3.0, double=False, how="a")) == 3.0
        assert float(step(3.0, double=False, how="b")) == 3.0
    assert calls == [(True, "a"), (False, "a"), (False, "b")]


class Dropping(nnx.Module):
    def __init__(self) -> None:
        self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

    def __call__(self, x: Any) -> Any:
        return self.dropout(x)


def test_train_and_eval_are_two_programs_that_are_kept(mesh_of: MeshOf) -> None:
    model = Dropping()
    step = spmd.Step(lambda: spmd.all_reduce(model(jnp.ones(100)).sum()), mesh_of(2))
    for turn in range(3):
        model.train()
        assert float(step()) != 200.0
        model.eval()
        assert float(step()) == 200.0
        assert step.trace_count == 2, turn


def test_the_program_unused_for_longest_is_dropped(mesh_of: MeshOf) -> None:
    step = spmd.Step(
        lambda x: x * 2, mesh_of(1), options=spmd.StepOptions(max_programs=2, warn_after=99)
    )
    for size in (1, 2, 1, 3):  # 3 drops 2
        step(jnp.ones(size))
    assert step.trace_count == 3
    step(jnp.ones(1))
    assert step.trace_count == 3
    step(jnp.ones(2))
    assert step.trace_count == 4
    assert "programs=2" in repr(step)


def test_the_program_unused_for_longest_is_dropped_among_those_of_one_shape(
    mesh_of: MeshOf,
) -> None:
    model = Dropping()
    step = spmd.Step(
        lambda: model(jnp.ones(3)),
        mesh_of(1),
        options=spmd.StepOptions(max_programs=2, warn_after=99),
    )
    for rate in (0.1, 0.2, 0.1, 0.3, 0.1):  # 0.3 drops 0.2
        model.dropout.rate = rate
        step()
    assert step.trace_count == 3


@pytest.mark.parametrize("batches", [False, True])
def test_models_that_were_replaced_are_freed(mesh_of: MeshOf, batches: bool) -> None:
    mesh = mesh_of(2)
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))

    def run(x: Any) -> Any:
        model.bias[...] += 1.0
        return spmd.all_reduce(model(x).sum())

    x = batches_of(4, mesh)[0] if batches else np.ones((4, 2), np.float32)
    step = spmd.Step(run, mesh, options=spmd.StepOptions(warn_after=99))
    alive: list[weakref.ref[Any]] = []
    for turn in range(6):
        model = nnx.Linear(2, 1, rngs=nnx.Rngs(turn))
        alive.append(weakref.ref(model))
        step(x)
        step(x)
        gc.collect()
        # This one, and those that may be taking turns with it.
        assert [made() is not None for made in alive[-3:]] == [True] * min(turn + 1, 3)
        assert not any(made() for made in alive[:-3])
        assert float(model.bias[0]) == 2.0
    assert step.trace_count == 6
    assert "programs=3" in repr(step)


def test_models_may_take_turns_under_one_name(mesh_of: MeshOf) -> None:
    models = [Dropping() for _ in range(3)]
    model = models[0]
    step = spmd.Step(lambda: model(jnp.ones(3)), mesh_of(2))
    for _ in range(3):
        for model in models:  # noqa: B007  (the step reads it)
            step()
    assert step.trace_count == 3


def test_an_equal_variable_in_the_place_of_another_is_noticed(mesh_of: MeshOf) -> None:
    class Counter(nnx.Module):
        def __init__(self) -> None:
            self.count = nnx.Param(jnp.float32(0.0))

    counter = Counter()

    def add() -> None:
        counter.count[...] += 1.0

    step = spmd.Step(add, mesh_of(2))
    step()
    counter.count = nnx.Param(jnp.float32(1.0))
    step()
    assert float(counter.count[...]) == 2.0
    assert step.trace_count == 2


def test_each_doubling_of_programs_warns_and_names_what_changes(mesh_of: MeshOf) -> None:
    step = spmd.Step(
        lambda x: x * 2, mesh_of(1), options=spmd.StepOptions(warn_after=2, max_programs=3)
    )
    warned: dict[int, Any] = {}
    for size in range(1, 13):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            step(np.ones((size, 3), np.float32))
        for warning in caught:
            assert warning.category is spmd.errors.RecompilationWarning
            warned[size] = warning
    assert sorted(warned) == [2, 4, 8]
    message = str(warned[8].message)
    assert "args[0] changed from float32[7, 3] to float32[8, 3]" in message
    assert "8 times" in message
    assert warned[8].filename == __file__


@pytest.mark.parametrize("name", ["max_programs", "warn_after"])
def test_options_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        spmd.StepOptions(**{name: 0})


# What a step returns.


@pytest.mark.parametrize("features", [2, 3])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_reduced_vector_comes_back_as_one_array(
    mesh_of: MeshOf, replicas: int, features: int
) -> None:
    # Also if it happens to be as long as a replica has rows: 2.
    mesh = mesh_of(replicas)
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum(0)), mesh)
    batch = batches_of(2 * replicas, mesh, 2 * replicas, features)[0]
    result = step(batch)
    assert isinstance(result, jax.Array)
    rows = np.arange(2 * replicas * features).reshape(-1, features)
    np.testing.assert_allclose(result, rows.sum(0))


def test_results_keep_their_structure(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    step = spmd.Step(
        lambda x: {"equal": spmd.all_reduce(1.0), "own": (spmd.replica_id(), None), "rows": x * 2},
        mesh,
    )
    result = step(batches_of(3, mesh)[0])
    assert float(result["equal"]) == 2.0
    assert isinstance(result["own"][0], spmd.PerReplica)
    assert [int(value) for value in result["own"][0]] == [0, 1]
    assert result["own"][1] is None
    np.testing.assert_array_equal(spmd.gather(result["rows"]), np.arange(6).reshape(3, 2) * 2)


def test_keep_per_replica_keeps_equal_results(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda: spmd.all_reduce(1.0), mesh_of(2), keep_per_replica=True)
    assert [float(value) for value in step()] == [2.0, 2.0]


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
def test_random_keys_go_in_and_out(mesh_of: MeshOf, make: Any) -> None:
    step = spmd.Step(lambda key: (key, jax.random.normal(key)), mesh_of(2))
    key = make(3)
    for _ in range(2):
        result, number = step(key)
        assert float(jax.random.normal(result)) == float(jax.random.normal(key)) == float(number)


# Steps in places where they do not belong.


def test_a_step_in_a_step_is_refused(mesh_of: MeshOf) -> None:
    inner = spmd.Step(lambda: 1.0, mesh_of(2))
    outer = spmd.Step(lambda: inner(), mesh_of(2))
    with pytest.raises(
        spmd.errors.ReplicaContextError, match="inside the replica function of another"
    ):
        outer()
    assert float(inner()) == 1.0


def test_steps_between_replicas_become_one_program(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    count = spmd.Variable(jnp.zeros(()), name="count")

    def add(x: Any) -> Any:
        count.value = count.value + spmd.all_reduce(x.sum())
        return count.value

    inner = spmd.Step(add, mesh)
    outer = spmd.step.CrossReplicaStep(lambda x: inner(x) and None, mesh)
    twice = spmd.step.CrossReplicaStep(
        lambda x: spmd.reduce(inner(x)) + spmd.reduce(inner(x)), mesh
    )
    batch = batches_of(4, mesh)[0]
    del outer
    # 28, then 56, each on two replicas.
    assert float(twice(batch)) == 2 * 28 + 2 * 56
    assert float(count.value) == 56
    assert (twice.trace_count, inner.trace_count) == (1, 0)


def test_a_step_of_another_mesh_inside_a_program_is_refused(mesh_of: MeshOf) -> None:
    inner = spmd.Step(lambda: spmd.all_reduce(1.0), mesh_of(2))
    outer = spmd.step.CrossReplicaStep(lambda: spmd.reduce(inner()), mesh_of(4))
    with pytest.raises(spmd.errors.SpmdError):
        outer()


def test_a_batch_of_another_mesh_is_refused(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: x, mesh_of(2))
    with pytest.raises(spmd.errors.BatchError, match=r"over 4 device.*runs on 2"):
        step(batches_of(4, mesh_of(4))[0])


@pytest.mark.parametrize(
    "transform",
    [
        lambda step: jax.jit(step)(1.0),
        lambda step: jax.jit(lambda x: step(x))(1.0),
        lambda step: jax.grad(lambda x: step(x))(1.0),
        lambda step: jax.vmap(step)(jnp.ones(2)),
        lambda step: jax.lax.scan(lambda c, x: (step(c), x), 1.0, None, length=2),
    ],
    ids=["jit", "lambda", "grad", "vmap", "scan"],
)
def test_a_step_inside_a_transformation_is_refused(mesh_of: MeshOf, transform: Any) -> None:
    step = spmd.Step(lambda x: x * 2, mesh_of(2))
    with pytest.raises(spmd.errors.SpmdError, match=r"jax\.jit"):
        transform(step)


def test_a_step_without_arguments_inside_jit_is_refused(mesh_of: MeshOf) -> None:
    count = spmd.Variable(jnp.zeros(()), name="count")

    def add() -> None:
        count.value = count.value + 1

    step = spmd.Step(add, mesh_of(2))
    with pytest.raises(spmd.errors.SpmdError, match=r"jax\.jit"):
        jax.jit(lambda: step())()
    step()
    assert float(count.value) == 1.0


def test_not_a_function() -> None:
    with pytest.raises(TypeError, match="made of a function"):
        spmd.Step(3)  # type: ignore[arg-type]


def test_a_compiled_program_refuses_padding_that_it_would_count(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    total = spmd.Variable(jnp.zeros(()), name="total")

    def add(x: Any) -> None:
        total.value = total.value + spmd.all_reduce(x.sum())

    step = spmd.Step(add, mesh)
    full, partial = batches_of(5, mesh)
    compiled = step.lower(full).compile()
    compiled(full)
    with pytest.raises(spmd.errors.PaddedBatchError) as error:
        compiled(partial)
    message = str(error.value)
    parts = (
        "1 rows, padded to 4",
        "total",
        "spmd.average_loss(per_example_loss)",
        "drop_remainder=True",
        "valid_rows",
    )
    positions = [message.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "reduction='none'" in message
    assert float(total.value) == 28.0
    compiled(full)
    assert float(total.value) == 56.0
    step(partial)
    assert float(total.value) == 56.0 + 8.0 + 9.0


@pytest.mark.parametrize("name", ["step", "<lambda>", "is"])
def test_messages_read_well_with_any_name(mesh_of: MeshOf, name: str) -> None:
    mesh = mesh_of(2)

    def function(x: Any) -> Any:
        return x.sum()

    function.__name__ = name
    (batch,) = spmd.distribute(np.ones(3, np.float32), mesh, batch_size=4)
    words = (
        f"the step '{name}' never asks which rows are valid, so padding would count in the result"
    )
    with pytest.raises(spmd.errors.PaddedBatchError, match=words + r"\. "):
        spmd.Step(function, mesh).lower(batch).compile()(batch)


def test_batch_statistics_without_the_mask_are_those_of_the_rows_that_there_are(
    mesh_of: MeshOf,
) -> None:
    norm = nnx.BatchNorm(2, momentum=0.0, rngs=nnx.Rngs(0))

    def train(x: Any) -> Any:
        return spmd.all_reduce(spmd.average_loss(norm(x)[:, 0]))

    step = spmd.Step(train, mesh_of(2))
    full, partial = batches_of(7, step.mesh)
    step(full)
    np.testing.assert_allclose(norm.mean[...], [3.0, 4.0])
    step(partial)  # of rows [8, 9], [10, 11] and [12, 13], replicas have two and one
    np.testing.assert_allclose(norm.mean[...], [(9 + 12) / 2, (10 + 13) / 2])
    assert step.explain().path == "unequal"


def test_batch_statistics_with_the_mask_leave_padding_out(mesh_of: MeshOf) -> None:
    norm = nnx.BatchNorm(2, momentum=0.0, rngs=nnx.Rngs(0))

    def train(x: Any) -> Any:
        normed = norm(x, mask=spmd.valid_rows()[:, None])
        return spmd.all_reduce(spmd.average_loss(normed[:, 0]))

    step = spmd.Step(train, mesh_of(1))
    for batch in batches_of(7, step.mesh):
        step(batch)
    np.testing.assert_allclose(norm.mean[...], [10.0, 11.0])
    assert step.trace_count == 1


def test_two_batches_need_their_names(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)

    def ambiguous(x: Any, y: Any) -> Any:
        return spmd.all_reduce((spmd.valid_rows() * x[:, 0]).sum())

    def named(x: Any, y: Any) -> Any:
        return spmd.all_reduce((spmd.valid_rows(x) * 1.0).sum()), spmd.all_reduce(
            (spmd.valid_rows(y) * 1.0).sum()
        )

    five, seven = batches_of(5, mesh)[1], batches_of(7, mesh)[1]
    with pytest.raises(spmd.errors.BatchError, match=r"2 batches.*spmd.valid_rows\(batch\)"):
        spmd.Step(ambiguous, mesh)(five, seven)
    step = spmd.Step(named, mesh)
    assert [float(value) for value in step(five, seven)] == [1.0, 3.0]
    assert [float(value) for value in step(seven, five)] == [3.0, 1.0]
    assert [float(value) for value in step(seven, seven)] == [3.0, 3.0]


def test_a_reduced_vector_that_follows_the_rows_is_one_array(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    batch = list(spmd.distribute(np.ones(5, np.float32), mesh, batch_size=4))[1]  # one valid row
    step = spmd.Step(lambda x: spmd.all_reduce(spmd.valid_rows() * 1), mesh)
    np.testing.assert_array_equal(step(batch), [1, 0])


def test_a_step_on_a_mesh_without_replicas_is_refused() -> None:
    mesh = Mesh(np.array(jax.devices()[:2]), ("batch",))
    with pytest.raises(spmd.errors.MeshError, match="'batch'"):
        spmd.Step(lambda: 1.0, mesh)()


def test_a_variable_copied_to_another_keeps_its_value(mesh_of: MeshOf) -> None:
    # A target network: the source is read for nothing else.
    online, target = spmd.Variable(jnp.full(3, 5.0)), spmd.Variable(jnp.zeros(3))

    def copy() -> None:
        target.value = online.value

    spmd.Step(copy, mesh_of(2))()
    np.testing.assert_array_equal(target.value, [5.0, 5.0, 5.0])
    np.testing.assert_array_equal(online.value, [5.0, 5.0, 5.0])


def test_two_variables_can_swap_their_values(mesh_of: MeshOf) -> None:
    left, right = spmd.Variable(jnp.array(1.0)), spmd.Variable(jnp.array(2.0))

    def swap() -> None:
        left.value, right.value = right.value, left.value

    step = spmd.Step(swap, mesh_of(2))
    for expected in ((2.0, 1.0), (1.0, 2.0)):
        step()
        assert (float(left.value), float(right.value)) == expected


def test_a_step_called_before_is_refused_inside_jit_as_well(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    step = spmd.Step(lambda x: x * 2, mesh)
    batch = batches_of(4, mesh)[0]
    step(batch)
    with pytest.raises(spmd.errors.BatchError, match=r"jax\.jit"):
        jax.jit(lambda: step(batch))()


def test_integers_that_do_not_fit_are_refused(mesh_of: MeshOf) -> None:
    with pytest.raises(spmd.errors.BatchError, match="int32"):
        spmd.Step(lambda x: x, mesh_of(1))(np.array([2**40]))


def test_a_random_key_that_a_step_does_not_read_stays(mesh_of: MeshOf) -> None:
    key = spmd.Variable(jax.random.key(7), name="key")
    total = spmd.Variable(jnp.float32(0))

    def step(x: Any) -> Any:
        if key.name is None:
            key.value = jax.random.key(0)
        total.value = total.value + spmd.all_reduce(x.sum())
        return total.value

    run = spmd.Step(step, mesh_of(2), state=[key])
    assert float(run(np.float32(1))) == 2
    assert (
        jax.random.key_data(key.value).tolist() == jax.random.key_data(jax.random.key(7)).tolist()
    )
