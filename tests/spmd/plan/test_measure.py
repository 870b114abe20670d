"""What the compiler says of a program."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.plan import parse_topology
from spmd.plan.measure import measure
from spmd.step import CrossReplicaStep, observe_compilation
from spmd.step.loop import for_each

MESH = ("cpu:0", "cpu:1")


def facts_of(step, *arguments, **options):
    programs = []
    end = observe_compilation(lambda program, _: programs.append(program))
    try:
        step(*arguments)
    finally:
        end()
    (program,) = programs
    given = options.pop("compiler_options", None)
    return measure(program, given, parse_topology("cpu:2"), step.mesh, **options)


def test_steps_of_a_loop_are_counted() -> None:
    mesh = spmd.make_mesh(MESH)
    total = spmd.Variable(np.float32(0))

    def one(batch):
        total.value = total.value + spmd.reduce(spmd.run(lambda x: x.sum(), batch))

    step = CrossReplicaStep(lambda *batches: for_each(one, batches), mesh)
    batches = list(spmd.distribute(np.ones((12, 3), np.float32), mesh, batch_size=4))
    facts = facts_of(step, *batches)
    assert (facts.steps_per_call, facts.global_batch) == (3, 4)


def test_a_loop_inside_of_one_step_is_none() -> None:
    mesh = spmd.make_mesh(MESH)

    def step(x):
        def body(carry, _):
            return carry + spmd.all_reduce(x.sum()), None

        total, _ = jax.lax.scan(body, jnp.zeros(()), length=5)
        return spmd.all_reduce(total)

    (batch,) = spmd.distribute(np.ones((4, 3), np.float32), mesh, batch_size=4)
    assert facts_of(spmd.Step(step, mesh), batch).steps_per_call == 1


def test_options_for_another_platform_are_left_out() -> None:
    mesh = spmd.make_mesh(MESH)
    step = spmd.Step(lambda x: x + 1, mesh)
    options = {"xla_tpu_enable_flash_attention": True, "xla_cpu_enable_fast_math": False}
    facts = facts_of(step, jnp.ones(3), compiler_options=options)
    assert facts.notes == (
        "Options of the step for another platform were left out: xla_tpu_enable_flash_attention.",
    )


def test_arguments_are_counted_on_one_device() -> None:
    mesh = spmd.make_mesh(MESH)
    (batch,) = spmd.distribute(np.ones((8, 3), np.float32), mesh, batch_size=8)
    facts = facts_of(spmd.Step(lambda x, y: x.sum() + y.sum(), mesh), batch, np.ones(5, np.float32))
    assert [(one.name, one.bytes, one.shape) for one in facts.buffers] == [
        ("args[0]", 4 * 3 * 4, (8, 3)),
        ("args[1]", 5 * 4, (5,)),
    ]
    assert {one.kind for one in facts.buffers} == {"input"}


def test_settings_are_as_they_were() -> None:
    before = jax.config.jax_enable_compilation_cache
    facts_of(spmd.Step(functools.partial(jnp.add, 1), spmd.make_mesh(MESH)), jnp.ones(3))
    assert jax.config.jax_enable_compilation_cache == before


@pytest.mark.parametrize("rows", [1, 2])
def test_a_batch_without_padding_has_no_note(rows) -> None:
    mesh = spmd.make_mesh(MESH)
    (batch,) = spmd.distribute(np.ones((rows, 3), np.float32), mesh, batch_size=rows)
    facts = facts_of(spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x.sum(1))), mesh), batch)
    assert len(facts.notes) == rows % 2
