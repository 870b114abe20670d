"""A compiled program: donation that never shows, staleness, inspection."""

import gc
import re
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import spmd
from spmd.lowering import memory

MeshOf = Callable[[int], Mesh]
SIZE = 1000


def counting_step(mesh: Mesh) -> tuple[nnx.Param[Any], Callable[[], Any]]:
    """A variable on the mesh, and a step that adds 1 to it; it holds 1.0 by now."""
    variable = nnx.Param(jnp.zeros(SIZE))

    def add() -> None:
        variable[...] = variable[...] + 1

    step = spmd.Step(add, mesh)
    step()
    return variable, step


def batches_of(rows: int, mesh: Mesh, batch_size: int = 4) -> list[Any]:
    data = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))


# State that is lost.


def test_a_step_that_fails_while_it_runs_says_which_state_is_lost(mesh_of: MeshOf) -> None:
    model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
    unread = nnx.Param(jnp.ones(3))
    saved = jax.tree.map(np.asarray, nnx.state(model))
    fail = [False]

    def host(x: Any) -> Any:
        if fail[0]:
            raise RuntimeError("on purpose")
        return x

    def train() -> Any:
        one = io_callback(host, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1.0))
        one = spmd.all_reduce(one)
        model.kernel[...] += one
        model.bias[...] += unread[0]
        return one

    # On one device XLA raises at once; on several, when somebody reads the values.
    step = spmd.Step(train, mesh_of(1))
    jax.block_until_ready(step())  # or it may fail itself, once it asks the host
    jnp.copy(
        model.bias[...]
    )  # JAX says another thing of a lost array where it has copied its like before
    fail[0] = True
    with pytest.raises(spmd.errors.StateError, match=r"failed while it ran.*nnx\.update") as error:
        step()
    assert re.search(r"value of model\.\w+, model\.\w+ is lost", str(error.value))
    assert "unread" not in str(error.value)
    assert "on purpose" in str(error.value.__cause__)
    fail[0] = False
    # Neither by the short way nor by the long one.
    for again in (step, spmd.Step(train, mesh_of(2))):
        with pytest.raises(
            spmd.errors.StateError, match=r"cannot run.*model\..* is lost.*failed before"
        ):
            again()
    # Nor where somebody holds the lost array, so that it would be copied first.
    held = model.bias[...]
    with pytest.raises(
        spmd.errors.StateError, match=r"cannot run.*model\..* is lost.*failed before"
    ):
        step()
    assert held.is_deleted()
    nnx.update(model, saved)
    assert float(step()) == 1.0
    np.testing.assert_allclose(model.kernel[...], np.asarray(saved["kernel"][...]) + 1)


def test_a_step_that_fails_with_its_state_intact_raises_what_jax_raised(mesh_of: MeshOf) -> None:
    variable, step = counting_step(mesh_of(1))
    kept = variable[...]
    fail = [False]

    def host() -> Any:
        if fail[0]:
            raise RuntimeError("on purpose")
        return np.float32(1.0)

    def add() -> None:
        variable[...] += io_callback(host, jax.ShapeDtypeStruct((), jnp.float32))

    failing = spmd.Step(add, mesh_of(1))
    failing()
    assert float(kept[0]) == 1.0
    kept = variable[...]  # so that the step donates a copy
    fail[0] = True
    with pytest.raises(jax.errors.JaxRuntimeError, match="on purpose"):
        failing()
    step()
    assert float(variable[0]) == 3.0
    assert float(kept[0]) == 2.0


def test_a_deleted_batch_is_no_lost_state(mesh_of: MeshOf) -> None:
    variable = nnx.Param(jnp.zeros(2))

    def add(x: Any) -> None:
        variable[...] += spmd.all_reduce(x.sum())

    step = spmd.Step(add, mesh_of(2))
    first, second = batches_of(8, step.mesh)
    step(first)
    second.array.delete()
    with pytest.raises(RuntimeError, match="deleted") as error:
        step(second)
    assert not isinstance(error.value, spmd.errors.StateError)
    step(first)


# Donation.

# Not among them, and named in docs/design.md: a shard, addressable_data, a device_put elsewhere. They
# share the memory of the array, and nothing that Python can see says so.
READS: dict[str, Callable[[Any, Mesh], Any]] = {
    "the array": lambda v, mesh: v[...],
    "get_value": lambda v, mesh: v.get_value(),
    "jnp.asarray": lambda v, mesh: jnp.asarray(v[...]),
    "np.asarray": lambda v, mesh: np.asarray(v[...]),
    "memoryview": lambda v, mesh: memoryview(np.asarray(v[...])),
    "NumPy view of a shard": lambda v, mesh: np.asarray(v[...].addressable_shards[0].data),
    "device_put on the mesh": lambda v, mesh: jax.device_put(
        v[...], NamedSharding(mesh, PartitionSpec())
    ),
    "clone": lambda v, mesh: nnx.clone(v)[...],
    "cloned state": lambda v, mesh: jax.tree.leaves(nnx.state(nnx.Dict(v=v)))[0],
    "identity jit": lambda v, mesh: jax.jit(lambda x: x)(v[...]),
    "reshape": lambda v, mesh: v[...].reshape(SIZE),
    "astype": lambda v, mesh: v[...].astype(jnp.float32),
    "dlpack": lambda v, mesh: np.from_dlpack(v[...].addressable_data(0)),
    "whole slice": lambda v, mesh: v[...][:],
    "in a container": lambda v, mesh: {"history": [v[...]]}["history"][0],
}


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("read", READS)
def test_what_was_read_before_a_step_is_readable_after_it(
    mesh_of: MeshOf, read: str, replicas: int
) -> None:
    mesh = mesh_of(replicas)
    variable, step = counting_step(mesh)
    before = READS[read](variable, mesh)
    for _ in range(3):
        step()
    np.testing.assert_array_equal(np.asarray(variable[...]), np.full(SIZE, 4.0))
    # Whatever part of the array was read, it is all ones.
    values = np.asarray(before)
    np.testing.assert_array_equal(values, np.ones_like(values))


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_cloned_model_is_readable_and_trainable_on_its_own(
    mesh_of: MeshOf, replicas: int
) -> None:
    mesh = mesh_of(replicas)
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)

    def train() -> None:
        optimizer.update(model, nnx.grad(lambda m: m(jnp.ones(2)).sum())(model))

    step = spmd.Step(train, mesh)
    step()
    copy = nnx.clone(model)
    frozen = np.array(copy.kernel[...])
    for _ in range(2):
        step()
    np.testing.assert_array_equal(copy.kernel[...], frozen)
    assert np.abs(np.asarray(model.kernel[...]) - frozen).max() > 0.05


@pytest.mark.parametrize("replicas", [1, 2])
def test_two_variables_that_share_an_array_part(mesh_of: MeshOf, replicas: int) -> None:
    one, two = nnx.Param(jnp.zeros(3)), nnx.Param(jnp.zeros(3))
    two[...] = one[...]

    def step() -> None:
        one[...] = one[...] + 1
        two[...] = two[...] + 10

    run = spmd.Step(step, mesh_of(replicas))
    run()
    two[...] = one[...]  # again, with arrays that are on the mesh
    run()
    np.testing.assert_array_equal(one[...], [2.0] * 3)
    np.testing.assert_array_equal(two[...], [11.0] * 3)


@pytest.mark.parametrize("replicas", [1, 2])
def test_variables_may_be_swapped(mesh_of: MeshOf, replicas: int) -> None:
    one = spmd.Variable(jnp.zeros(3))
    two = spmd.Variable(jnp.ones(3))

    def swap() -> None:
        one.value, two.value = two.value, one.value

    step = spmd.Step(swap, mesh_of(replicas))
    step()
    between = one.value
    step()
    step()
    np.testing.assert_array_equal(between, [1.0] * 3)
    np.testing.assert_array_equal(one.value, [1.0] * 3)
    np.testing.assert_array_equal(two.value, [0.0] * 3)


def test_a_variable_s_array_may_be_an_argument_too(mesh_of: MeshOf) -> None:
    total = spmd.Variable(jnp.ones(3))

    def add(x: Any) -> None:
        total.value = total.value + x

    step = spmd.Step(add, mesh_of(2))
    for _ in range(3):
        step(total.value)
    np.testing.assert_array_equal(total.value, [8.0] * 3)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_result_stays_readable_when_the_variable_moves_on(
    mesh_of: MeshOf, replicas: int, keep: bool
) -> None:
    variable, step = counting_step(mesh_of(replicas))
    show = spmd.Step(lambda: variable[...], mesh_of(replicas), keep_per_replica=keep)
    result = show()
    for _ in range(3):
        step()
    for copy in result.values if keep else (result,):
        np.testing.assert_array_equal(copy, np.ones(SIZE))


def test_the_new_value_as_a_result_stays_readable(mesh_of: MeshOf) -> None:
    variable = nnx.Param(jnp.zeros(3))

    def add() -> Any:
        variable[...] = variable[...] + 1
        return variable[...]

    step = spmd.Step(add, mesh_of(2))
    results = [step() for _ in range(4)]
    assert [float(result[0]) for result in results] == [1.0, 2.0, 3.0, 4.0]


def test_state_is_donated(mesh_of: MeshOf) -> None:
    variable, step = counting_step(mesh_of(2))
    program = step.lower()  # type: ignore[attr-defined]
    assert program.memory.alias_size_in_bytes == SIZE * 4
    before = variable[...].addressable_shards[0].data.unsafe_buffer_pointer()
    gc.collect()
    step()
    assert variable[...].addressable_shards[0].data.unsafe_buffer_pointer() == before


def pointer(variable: Any) -> int:
    return variable[...].unsafe_buffer_pointer()


def test_state_is_donated_when_two_steps_take_turns(mesh_of: MeshOf) -> None:
    # One step for the generator, one for the discriminator, say. Neither may copy at every turn.
    variable, one = counting_step(mesh_of(1))

    def double() -> None:
        variable[...] = variable[...] * 2

    two = spmd.Step(double, mesh_of(1))
    for _ in range(2):
        one()
        two()
    for step in (one, two, one, two):
        old = weakref.ref(variable[...])
        before = pointer(variable)
        step()
        gc.collect()
        assert pointer(variable) == before
        assert old() is None or old().is_deleted()


def test_a_step_that_only_reads_does_not_keep_old_state_alive(mesh_of: MeshOf) -> None:
    variable, train = counting_step(mesh_of(1))
    evaluate = spmd.Step(lambda: variable[...].sum(), mesh_of(1))
    evaluate()
    old = weakref.ref(variable[...])
    train()
    gc.collect()
    assert old() is None or old().is_deleted()


# Values written by others between steps.


def test_values_written_between_steps_are_seen(mesh_of: MeshOf) -> None:
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    step = spmd.Step(lambda: model(jnp.ones(2)).sum(), mesh_of(2))
    step()
    model.kernel[...] = jnp.array([[1.0], [2.0]])
    assert float(step()) == 3.0
    nnx.update(model, {"bias": jnp.array([10.0])})
    assert float(step()) == 13.0
    model.bias[...] = np.array([20.0], np.float32)
    assert float(step()) == 23.0
    other = nnx.Linear(2, 1, rngs=nnx.Rngs(1))
    nnx.update(model, nnx.state(other))
    np.testing.assert_allclose(step(), other(jnp.ones(2)).sum(), rtol=1e-6)
    assert step.trace_count == 1


def test_a_value_on_another_device_or_mesh_is_taken_in(mesh_of: MeshOf) -> None:
    variable = spmd.Variable(jnp.zeros(4))

    def add() -> None:
        variable.value = variable.value + 1

    step = spmd.Step(add, mesh_of(2))
    step()
    variable.value = jax.device_put(jnp.full(4, 5.0), jax.devices()[7])
    step()
    np.testing.assert_array_equal(variable.value, np.full(4, 6.0))
    split = NamedSharding(mesh_of(4), PartitionSpec("replica"))
    variable.value = jax.device_put(jnp.full(4, 8.0), split)
    step()
    np.testing.assert_array_equal(variable.value, np.full(4, 9.0))


def test_one_model_may_train_on_two_meshes_in_turn(mesh_of: MeshOf) -> None:
    variable = nnx.Param(jnp.zeros(3))

    def add() -> None:
        variable[...] = variable[...] + 1

    steps = [spmd.Step(add, mesh_of(count)) for count in (1, 4)]
    for turn in range(4):
        steps[turn % 2]()
    np.testing.assert_array_equal(variable[...], [4.0] * 3)


@pytest.mark.parametrize("value", [jnp.zeros(5), jnp.zeros(3, jnp.int32), np.zeros((2, 2))])
def test_a_new_shape_or_type_of_a_variable_compiles_again(mesh_of: MeshOf, value: Any) -> None:
    variable = spmd.Variable(jnp.ones(3))

    def add() -> Any:
        variable.value = variable.value + 1
        return variable.value.sum()

    step = spmd.Step(add, mesh_of(2))
    step()
    variable.value = value
    assert float(step()) == value.size
    assert float(step()) == 2 * value.size
    assert variable.value.shape == value.shape
    assert step.trace_count == 2


@pytest.mark.parametrize("first", [jnp.ones(3), {"a": jnp.ones(3)}, (jnp.ones(1), jnp.ones(2))])
def test_a_new_structure_of_a_variable_is_refused_by_name(mesh_of: MeshOf, first: Any) -> None:
    variable = spmd.Variable(first, name="pair")
    step = spmd.Step(
        lambda: sum(leaf.sum() for leaf in jax.tree.leaves(variable.value)), mesh_of(2)
    )
    assert float(step()) == 3.0
    variable.value = {"a": jnp.ones(2), "b": jnp.ones(2)}
    with pytest.raises(spmd.errors.SpmdError, match="pair"):
        step()
    variable.value = first
    assert float(step()) == 3.0


def test_a_python_number_in_a_variable_is_state(mesh_of: MeshOf) -> None:
    variable = nnx.Variable(3)

    def double() -> Any:
        variable[...] = variable[...] * 2
        return variable[...]

    step = spmd.Step(double, mesh_of(2))
    assert int(step()) == 6
    assert int(step()) == 12


def test_reset_metrics_start_again(mesh_of: MeshOf) -> None:
    metric = nnx.metrics.Average("loss")
    step = spmd.Step(lambda x: metric.update(loss=x[:, 0], mask=spmd.valid_rows()), mesh_of(2))
    for _ in range(2):
        metric.reset()
        for batch in batches_of(7, step.mesh):
            step(batch)
        np.testing.assert_allclose(metric.compute(), np.arange(0, 14, 2).mean(), rtol=1e-6)
    assert step.trace_count == 1


# Inspection.


def test_what_a_program_shows(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    weights = spmd.Variable(jnp.ones((6, 3)), name="weights")

    def train(x: Any) -> Any:
        weights.value = weights.value + spmd.all_reduce(x.T @ x @ weights.value)
        return spmd.all_reduce(x.sum(), "mean")

    data = np.ones((16, 6), np.float32)
    batch = next(iter(spmd.distribute(data, mesh, batch_size=16, prefetch=0)))
    step = spmd.Step(train, mesh)
    program = step.lower(
        spmd.input.abstract_batch(jax.ShapeDtypeStruct((16, 6), jnp.float32), mesh)
    )
    assert step.trace_count == 1
    sizes = sorted((c.name, c.operands, c.bytes) for c in program.collectives)
    assert sizes == [("psum", ("float32[6,3]",), 72), ("psum", ("float32[]",), 4)]
    first = train.__code__.co_firstlineno
    assert [c.line for c in program.collectives] == [
        f"{__file__}:{first + 1} (train)",
        f"{__file__}:{first + 2} (train)",
    ]
    assert "all_reduce" in program.stablehlo
    assert "all-reduce" in program.hlo
    assert program.state_names == ("weights",)
    assert program.memory.alias_size_in_bytes == 72
    # One device: its 4 rows of 6, the weights, and the mask that nobody reads.
    assert 4 * 6 * 4 + 72 <= program.memory.argument_size_in_bytes <= 4 * 6 * 4 + 72 + 4
    # x.T @ x is 2*4*6*6 operations, its product with the weights 2*6*6*3.
    assert program.cost["flops"] >= 2 * 4 * 6 * 6 + 2 * 6 * 6 * 3
    step(batch)
    assert step.trace_count == 1
    np.testing.assert_array_equal(weights.value, np.full((6, 3), 97.0))


def test_lower_runs_nothing_and_changes_nothing(mesh_of: MeshOf) -> None:
    calls = [0]
    variable = spmd.Variable(jnp.zeros(2))

    def add(x: Any) -> Any:
        calls[0] += 1
        variable.value = variable.value + x
        return variable.value

    step = spmd.Step(add, mesh_of(2))
    step.lower(jax.ShapeDtypeStruct((2,), jnp.float32)).compile()
    np.testing.assert_array_equal(variable.value, [0.0, 0.0])
    np.testing.assert_array_equal(step(jnp.ones(2)), [1.0, 1.0])
    np.testing.assert_array_equal(step(np.ones(2, np.float32)), [2.0, 2.0])
    assert (calls[0], step.trace_count) == (1, 1)


def test_a_variable_that_somebody_writes_does_not_hide_a_reader_of_another(mesh_of):
    a, b = spmd.Variable(jnp.ones(2)), spmd.Variable(jnp.ones(2))

    def function():
        a.value = a.value + 1
        b.value = b.value + 1

    step = spmd.Step(function, mesh_of(2))
    step()
    kept = b.value
    a.value = jnp.ones(2)
    step()
    np.testing.assert_array_equal(kept, [2, 2])


def test_rows_of_results_of_several_batches(mesh_of):
    full = next(iter(spmd.distribute(np.arange(4.0), mesh_of(2), batch_size=4)))
    short = next(iter(spmd.distribute(np.arange(3.0), mesh_of(2), batch_size=4)))
    step = spmd.Step(lambda a, b: (a * 2, b * 3), mesh_of(2))
    for first, second in ((short, full), (full, short)):
        a, b = map(spmd.gather, step(first, second))
        np.testing.assert_array_equal(a, spmd.gather(first) * 2)
        np.testing.assert_array_equal(b, spmd.gather(second) * 3)
    mixed = spmd.Step(lambda a, b: a + b, mesh_of(2))
    np.testing.assert_array_equal(spmd.gather(mixed(full, full)), [0, 2, 4, 6])
    with pytest.raises(spmd.errors.BatchError, match="each row of several batches"):
        mixed(full, short)


# Memory of large programs.


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All programs count as large; holds the sizes of blocks, in the order in which steps prepared for them."""
    sizes: list[int] = []
    monkeypatch.setattr(memory, "_LARGE", 0)
    monkeypatch.setattr(memory.Workspace, "prepare", lambda self: sizes.append(self._size))
    return sizes


def test_each_step_of_a_large_program_prepares_its_memory(
    mesh_of: MeshOf, prepared: list[int]
) -> None:
    variable, step = counting_step(mesh_of(1))
    assert len(prepared) == 1
    step()
    assert len(prepared) == 2
    assert variable[0] == 2


def test_a_large_program_waits_for_the_last_step_on_its_state(
    mesh_of: MeshOf, prepared: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = nnx.Param(jnp.zeros(SIZE))

    def first() -> None:  # takes some tenths of a second
        variable[...] = jax.lax.fori_loop(0, 30_000, lambda _, x: jnp.sin(x) + 1, variable[...])

    def second() -> None:
        variable[...] = variable[...] + 1

    mesh = mesh_of(1)
    steps = spmd.Step(first, mesh), spmd.Step(second, mesh)
    for step in steps:
        step()
    ready: list[bool] = []
    monkeypatch.setattr(
        memory.Workspace, "prepare", lambda self: ready.append(variable.get_raw_value().is_ready())
    )
    for step in steps:
        step()
    assert ready == [True, True]


def test_programs_that_change_nothing_may_run_side_by_side(
    mesh_of: MeshOf, prepared: list[int]
) -> None:
    step = spmd.Step(lambda x: jnp.sort(x) + 1, mesh_of(1))
    step(jnp.ones((2, 3)))
    assert prepared == []
