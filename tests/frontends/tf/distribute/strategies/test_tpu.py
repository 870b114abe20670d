"""TPUStrategy on simulated cores: the numbers of MirroredStrategy, and the cores of its assignment."""

import os

import jax
import numpy as np
import pytest

from frontends import tf
from spmd.plan import parse_topology
from spmd.plan.environment import worker_environment
from spmd.topology import layout_of
from tests.spmd.plan.compilers import needs_tpu_compiler

EXPERIMENTAL = tf.tpu.experimental
ADAM = tf.keras.optimizers.Adam
DATA = np.random.RandomState(0).randn(44, 6).astype(np.float32)
LABELS = DATA.sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def _tpu(simulate):
    simulate("tpu:8")


def assignment(**arguments):
    return EXPERIMENTAL.DeviceAssignment.build(EXPERIMENTAL.initialize_tpu_system(), **arguments)


def ids(strategy):
    return [device.id for device in strategy.mesh.devices.flat]


def losses(strategy):
    """Trains with a last batch of 12 rows of 16; gives the losses, and the weights."""
    with strategy.scope():
        weight = tf.Variable(tf.zeros([6, 1]))
        optimizer = ADAM(0.1)
    dataset = tf.data.Dataset.from_tensor_slices((DATA, LABELS)).batch(16)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(
                tf.reduce_sum((x @ weight - y) ** 2, 1), global_batch_size=16
            )
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica_step, args=batch), axis=None)

    seen = [step(batch) for batch in strategy.experimental_distribute_dataset(dataset)]
    return np.array([*map(float, seen), *weight.numpy().ravel()])


def test_all_cores():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    tf.config.experimental_connect_to_cluster(resolver)
    EXPERIMENTAL.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    assert strategy.num_replicas_in_sync == 8
    assert strategy.cluster_resolver is resolver
    assert sorted(ids(strategy)) == list(range(8))
    assert len(tf.config.list_logical_devices("TPU")) == 8


def test_numbers_are_those_of_mirrored_strategy(monkeypatch):
    found = losses(tf.distribute.TPUStrategy())
    monkeypatch.delenv("JAXTRIBUTE_SIMULATE")
    mirrored = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(8)])
    np.testing.assert_allclose(found, losses(mirrored), rtol=1e-6)


@pytest.mark.parametrize("cores", [2, 4])
def test_replicas_of_several_cores(cores):
    shape = {2: [1, 1, 1, 2], 4: [1, 2, 1, 2]}[cores]
    found = assignment(computation_shape=shape, num_replicas=8 // cores)
    strategy = tf.distribute.TPUStrategy(experimental_device_assignment=found)
    assert strategy.num_replicas_in_sync == 8 // cores
    assert layout_of(strategy.mesh).devices_per_replica == cores
    numbers = [
        found.tpu_ordinal(replica, core) for replica in range(8 // cores) for core in range(cores)
    ]
    assert ids(strategy) == numbers
    assert strategy.extended.device_assignment is found
    alone = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(8 // cores)])
    np.testing.assert_allclose(losses(strategy), losses(alone), rtol=1e-6)


def test_values_are_divided_among_the_cores_of_the_assignment():
    found = assignment(computation_shape=[1, 2, 1, 2], num_replicas=2)
    strategy = tf.distribute.TPUStrategy(experimental_device_assignment=found)
    table = strategy.experimental_split_to_logical_devices(tf.reshape(tf.range(32), [8, 4]), [2, 2])
    devices = jax.devices("cpu")
    for replica in range(2):
        for core in range(4):
            device = devices[found.tpu_ordinal(replica, core)]
            (part,) = (one.data for one in table.addressable_shards if one.device == device)
            row, column = 4 * (core // 2), 2 * (core % 2)
            assert part.tolist() == [[4 * (row + i) + column + j for j in (0, 1)] for i in range(4)]


def test_some_cores_in_an_order_of_the_script():
    topology = EXPERIMENTAL.initialize_tpu_system()
    places = topology.device_coordinates[0][[6, 1]][:, None]
    found = EXPERIMENTAL.DeviceAssignment(topology, places)
    strategy = tf.distribute.experimental.TPUStrategy(device_assignment=found)
    assert ids(strategy) == [6, 1]


def test_spmd_partitioning_assigns_nothing():
    strategy = tf.distribute.TPUStrategy(experimental_spmd_xla_partitioning=True)
    with pytest.raises(ValueError, match="cannot be assigned to a logical device in SPMD mode"):
        strategy.experimental_assign_to_logical_device(tf.ones([2]), 0)
    assert (
        tf.distribute.TPUStrategy().experimental_assign_to_logical_device(tf.ones([2]), 0)[0] == 1
    )


def test_other_assignments_are_refused():
    with pytest.raises(TypeError, match=r"must be a tf\.tpu.*DeviceAssignment, but is 3"):
        tf.distribute.TPUStrategy(experimental_device_assignment=3)


def test_without_a_tpu(monkeypatch):
    monkeypatch.delenv("JAXTRIBUTE_SIMULATE")
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
    with pytest.raises(ValueError, match="TPUStrategy needs a TPU"):
        tf.distribute.TPUStrategy(resolver)
    with pytest.raises(tf.errors.NotFoundError):
        tf.distribute.TPUStrategy(resolver)


AOT = """
import jax, numpy as np
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec
from frontends import tf
from frontends.tf.tpu import topology as places
from frontends.tf.distribute.strategies import tpu
devices = topologies.get_topology_desc("v5e:2x4", platform="tpu").devices
places.all_devices = lambda platform=None: list(devices)
places.wanted_simulation = lambda: None
found = tf.tpu.experimental.DeviceAssignment.build(
    places.topology_of_devices(), computation_shape=[1, 2, 1, 1], num_replicas=4
)
mesh = tpu._mesh(found)
axes = mesh.axis_names
sharding = NamedSharding(mesh, PartitionSpec(axes[0], axes[1]))
x = jax.ShapeDtypeStruct((4, 2), np.float32, sharding=sharding)
compiled = jax.jit(lambda x: x * 2, out_shardings=sharding).lower(x).compile()
shards = compiled.output_shardings.devices_indices_map((4, 2))
for device, (replicas, cores) in shards.items():
    place = found.coordinates(replicas.start, cores.start)
    assert tuple(device.coords) == tuple(int(at) for at in place[:3]), (device, place)
print(len(shards), mesh.shape)
"""


@needs_tpu_compiler
def test_placement_on_a_real_topology(run_python):
    """Compiles for eight chips of a TPU v5e, which are not here: XLA's compiler needs none."""
    environment = worker_environment(parse_topology("v5e:2x4"), os.environ)
    environment.pop("JAXTRIBUTE_SIMULATE")
    assert run_python("-c", AOT, environment=environment).stdout.startswith("8 ")
