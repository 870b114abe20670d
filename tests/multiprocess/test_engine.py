"""The engine over several processes: what they share, what each has of its own, and what must not differ."""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.multiprocess

START = """
import os
import jax, numpy as np
import spmd
from tests.multiprocess.programs.joined import me, mesh
"""


def test_values_cross_processes(run_cluster):
    first, second = run_cluster(
        START
        + """
batch = next(iter(spmd.distribute(np.arange(7.0), mesh, batch_size=8)))
print(batch)
print(spmd.gather(batch).tolist(), float(spmd.reduce(batch, "mean", axis=0)))
step = spmd.Step(lambda x: (spmd.all_reduce((x * spmd.valid_rows(x)).sum()), x * 2), mesh)
total, doubled = step(batch)
print(float(total), [value.tolist() for value in doubled.values])
print(total.is_fully_addressable)
# What is no batch is each process's own.
print([float(value) for value in spmd.Step(lambda x: x + spmd.replica_id(), mesh)(10.0 * me).values])
# A number is, where the step needs none: then it is a part of the program, and the same in all.
scaled = spmd.Step(lambda x, by: x * by, mesh)
shaped = spmd.Step(lambda x, rows: spmd.all_reduce(x.reshape(rows, -1).sum(1)), mesh)
print([[float(scaled(2.0, turn + me).values[0]) for turn in range(3)], scaled.trace_count])
print([shaped(np.ones(4, np.float32), rows).tolist() for rows in (1, 2, 1)], shaped.trace_count)
""",
        devices=2,
    )
    assert [task.lines[5:] for task in (first, second)] == [
        [f"[{turns}, 1]", "[[16.0], [8.0, 8.0], [16.0]] 2"]
        for turns in ([0.0, 2.0, 4.0], [2.0, 4.0, 6.0])
    ]
    assert first.lines[:5] == [
        "PerReplica(0: [0., 1.], 1: [2., 3.])",
        "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0] 3.0",
        "21.0 [[0.0, 2.0], [4.0, 6.0]]",
        "True",
        "[0.0, 1.0]",
    ]
    assert second.lines[:5] == [
        "PerReplica(2: [4., 5.], 3: [6.])",
        first.lines[1],
        "21.0 [[8.0, 10.0], [12.0]]",
        "True",
        "[12.0, 13.0]",
    ]


def test_sources_of_ones_own_end_together(run_cluster):
    """The first process has a batch more than the second, whose batches have other sizes."""
    first, second = run_cluster(
        START
        + """
def own():
    for step in range(2 - me):
        yield np.arange(3 - me) + 10 * step + 100 * me

for name in ("per_process", "per_replica"):
    for batch in spmd.distribute(own, mesh, **{name: True}):
        print(name, batch.mask.counts, [value.tolist() for value in batch.values])
try:
    for batch in spmd.distribute(own if me else lambda: iter(()), mesh, per_process=True):
        print(batch)
except spmd.errors.BatchError as error:
    print(error)
""",
        devices=2,
    )
    assert first.lines[:3] == [
        "per_process (2, 1, 1, 1) [[0, 1], [2]]",
        "per_process (2, 1, 0, 0) [[10, 11], [12]]",
        "per_replica (3, 3, 2, 0) [[0, 1, 2], [10, 11, 12]]",
    ]
    assert second.lines[:3] == [
        "per_process (2, 1, 1, 1) [[100], [101]]",
        "per_process (2, 1, 0, 0) [[], []]",
        "per_replica (3, 3, 2, 0) [[100, 101], []]",
    ]
    assert "Process 0 has no batch, while others have" in first.lines[3]


def test_state_begins_as_the_first_process_has_it(run_cluster):
    tasks = run_cluster(
        START
        + """
numbers = np.random.default_rng(me)
weight = spmd.Variable(numbers.normal(size=3).astype(np.float32), name="weight")
flags = spmd.Variable(np.array([me == 0, True]), name="flags")
key = spmd.Variable(jax.random.key(me), kind="key", name="key")
seen = spmd.Variable(np.zeros((2, 1), np.float32), kind="local", name="seen")

def step():
    weight.value += spmd.all_reduce(jax.random.normal(key.value, (3,)))
    seen.value = seen.value + spmd.replica_id()
    return flags.value

train = spmd.Step(step, mesh)
print(train().tolist())
train()
print(np.asarray(weight.value).tolist(), np.random.default_rng(0).normal(size=3)[0] == weight.value[0])
"""
    )
    assert tasks[0].lines == tasks[1].lines
    assert tasks[0].lines[0] == "[True, True]"


DIFFERENT = {
    "a value that is assigned": (
        """
weight = spmd.Variable(np.float32(0), name="weight")
def step():
    weight.value = weight.value + 1
train = spmd.Step(step, mesh)
train()
weight.value = np.float32(me)
train()
""",
        "weight was assigned different values in different processes",
    ),
    "a variable that only one assigns": (
        """
a, b = (spmd.Variable(np.float32(0), name=name) for name in "ab")
def step():
    a.value = b.value = a.value + b.value
train = spmd.Step(step, mesh)
train()
a.value = np.float32(1)
if me:
    b.value = np.float32(1)
train()
""",
        "only one of them has b",
    ),
    "a number in the code": (
        """
spmd.Step(lambda: spmd.all_reduce(np.float32(me + 1)), mesh)()
""",
        "is another program in other processes",
    ),
    "an argument of a program of several runs": (
        """
spmd.step.CrossReplicaStep(lambda x: x * 2, mesh)(me + 1.0)
""",
        "was called with different arguments in different processes",
    ),
    "a number that is a part of the program": (
        """
step = spmd.step.CrossReplicaStep(lambda x, rows: x.reshape(rows, -1), mesh)
for rows in (1, 2):
    step(np.ones(2, np.float32), rows)
step(np.ones(2, np.float32), me + 1)
""",
        "was called with different arguments in different processes",
    ),
    "the order of calls": (
        """
steps = [spmd.Step(step, mesh) for step in (lambda: spmd.all_reduce(1.0), lambda: spmd.all_reduce(2.0))]
steps[me](), steps[1 - me]()
""",
        "is another program in other processes",
    ),
}


@pytest.mark.parametrize(("script", "message"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_differs_is_an_error_in_all(run_cluster, script, message):
    # The one that fails second may be told so before it can say it.
    for task in run_cluster(START + script, status=None):
        assert task.status in (1, 143)
        assert message in task.stderr


def test_as_one_process_with_as_many_devices(run_cluster):
    script = (
        START
        + """
import optax
from flax import nnx

model = nnx.Sequential(nnx.Linear(4, 8, rngs=nnx.Rngs(me)), nnx.Dropout(0.3, rngs=nnx.Rngs(1)), nnx.Linear(8, 1, rngs=nnx.Rngs(2)))
if me:
    model.layers[2].kernel[...] = model.layers[2].kernel[...] * 0
optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)

def step(batch):
    x, y = batch
    def loss_of(model):
        return spmd.average_loss((model(x)[:, 0] - y) ** 2)
    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return spmd.all_reduce(loss)

train = spmd.Step(step, mesh)
numbers = np.random.default_rng(0)
x = numbers.normal(size=(70, 4)).astype(np.float32)
losses = [
    float(train(batch))
    for _ in range(2)
    for batch in spmd.distribute((x, x.sum(1)), mesh, batch_size=16)
]
print([losses, np.asarray(model.layers[0].kernel[...]).ravel().tolist()])
"""
    )
    (alone,) = run_cluster(script, workers=1, devices=4)
    first, second = run_cluster(script, workers=2, devices=2)
    assert first.lines == second.lines
    for ours, theirs in zip(json.loads(first.lines[0]), json.loads(alone.lines[0]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_who_leaves_a_pass_waits_for_nobody(run_cluster):
    """The second process's source has no second batch to tell the first one of, until that is gone."""
    first, _ = run_cluster(
        START
        + """
import threading
from spmd.cluster.store import all_gather_small

gone = threading.Event()

def own():
    try:
        yield np.arange(2)
        if me:
            gone.wait()
        yield np.arange(2)
    finally:
        print("closed")

steps = iter(spmd.distribute(own, mesh, per_process=True))
next(steps)
if me == 0:
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "spmd-input"]
    steps.close()
    thread.join(100)
    print(thread.is_alive())
all_gather_small("test", "")
gone.set()
steps.close()
"""
    )
    assert first.lines == ["closed", "False"]


def test_parts_go_on_where_they_were(run_cluster):
    """The second process's part has ended when the position is saved; a pass that the first one makes alone does
    not count."""
    first, second = run_cluster(
        START
        + """
def own():
    for step in range(4 - 2 * me):
        yield np.arange(2) + 10 * step + 100 * me

if me == 0:
    next(iter(spmd.distribute(np.arange(4), spmd.make_mesh(["cpu:0"]), batch_size=2)))
batches = spmd.distribute(own, mesh, per_process=True)
steps = iter(batches)
for _ in range(3):
    next(steps)
state = steps.get_state()
print(state)
steps.close()
again = iter(batches)
again.set_state(state)
for batch in again:
    print(batch.mask.counts, [value.tolist() for value in batch.values])
"""
    )
    state = "{'position': None, 'batches': 3, 'parts': 2}"
    assert first.lines == [state, "(2, 0) [[30, 31]]"]
    assert second.lines == [state, "(2, 0) [[]]"]


DATASETS = {
    # The first worker has read the dataset once more, so that its next shuffle is another one.
    "would read the data in different orders": """
dataset = tf.data.Dataset.range(20).shuffle(20).batch(4)
if me == 0:
    next(iter(dataset))
""",
    "a pass over it has 3, then 5 batches in processes 0 to 1": """
dataset = tf.data.Dataset.range(20 * me, 12 + 28 * me).batch(4)
""",
}
READING = {
    "in a loop": """
for batch in strategy.experimental_distribute_dataset(dataset):
    print(batch)
""",
    "in fit": """
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(dataset.map(lambda x: (tf.cast(x[:, None], tf.float32), x)), epochs=2, workers=2)
""",
}


@pytest.mark.parametrize(
    "reading",
    [READING["in a loop"], pytest.param(READING["in fit"], marks=pytest.mark.slow)],
    ids=READING.keys(),
)
@pytest.mark.parametrize(("message", "dataset"), DATASETS.items(), ids=["order", "length"])
def test_datasets_that_differ_are_an_error(run_cluster, dataset, reading, message):
    start = """
from frontends import tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id
"""
    for task in run_cluster(start + dataset + reading, status=None):
        assert task.status in (1, 143)
        assert message in task.stderr
        assert not any(line.startswith("PerReplica") for line in task.lines)


def test_another_order_of_steps_that_ran_before(run_cluster):
    """Their collectives fit together, so nothing hangs and nothing fails."""
    for task in run_cluster(
        START
        + """
first, second = (spmd.Step(lambda i=i: spmd.all_reduce(np.float32(i)), mesh) for i in range(2))
first(), second()
for step in [first, second][:: 1 - 2 * me]:
    float(step())
""",
        status=1,
    ):
        assert "worker 1 ran different steps from worker 0" in task.stderr


def test_replicas_of_several_processes_with_different_numbers_of_rows(run_cluster):
    """Five rows on four replicas of two processes: two, two, one and none."""
    first, second = run_cluster(
        START
        + """
import jax.numpy as jnp
weight = spmd.Variable(jnp.ones(()), name="weight")
metric = spmd.Variable(jnp.zeros(2), kind="sum", name="metric")

def train(x):
    rows = spmd.all_reduce(x.shape[0])
    gradient = jax.grad(lambda weight: ((x * weight) ** 2).sum())(weight.value)
    weight.value = weight.value - 0.01 * spmd.all_reduce(gradient) / rows
    metric.value = metric.value + jnp.stack([x.sum(), jnp.float32(x.shape[0])])
    return rows, x * 2, spmd.replica.all_gather(x)

step = spmd.Step(train, mesh)
for batch in spmd.distribute(np.arange(1, 14, dtype=np.float32), mesh, batch_size=8):
    rows, doubled, every = step(batch)
print(int(rows), every.tolist(), step.explain().path, step.explain().rows, step.trace_count)
print(round(float(weight.value), 5), np.asarray(metric.value).tolist())
print([value.tolist() for value in doubled.values])
""",
        devices=2,
    )
    assert first.lines[0] == "5 [9.0, 10.0, 11.0, 12.0, 13.0] unequal ((2, 2, 1, 0),) 2"
    weight = 1 - 0.02 * np.mean(np.arange(1, 9) ** 2.0)
    weight -= 0.02 * weight * np.mean(np.arange(9, 14) ** 2.0)
    assert first.lines[1] == f"{round(weight, 5)} [91.0, 13.0]"
    assert first.lines[2] == "[[18.0, 20.0], [22.0, 24.0]]"
    assert second.lines == [*first.lines[:2], "[[26.0], []]"]
