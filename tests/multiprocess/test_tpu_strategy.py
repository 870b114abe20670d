"""A TPU pod of two hosts, simulated: each host is a process with two devices that stand for cores."""

import numpy as np

SCRIPT = """
import numpy as np
from frontends import tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
print(strategy.num_replicas_in_sync, strategy.extended.num_hosts, topology.num_tasks)
print(len(tf.config.list_logical_devices("TPU")))
rows = np.random.RandomState(0).randn(32, 3).astype(np.float32)
with strategy.scope():
    weight = tf.Variable(tf.ones([3]))
dataset = tf.data.Dataset.from_tensor_slices(rows).batch(8)
iterator = iter(strategy.experimental_distribute_dataset(dataset))

def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.reduce_sum(x * weight, 1) - 1) ** 2)
    gradient = tape.gradient(loss, weight)
    total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
    weight.assign_sub(0.001 * total)

@tf.function
def steps(iterator):
    for _ in tf.range(4):
        strategy.run(replica_step, args=(next(iterator),))

steps(iterator)
print(*weight.numpy())
"""


def expected():
    rows = np.random.RandomState(0).randn(32, 3).astype(np.float32)
    weight = np.ones(3)
    for batch in rows.reshape(4, 8, 3):
        weight -= 0.001 * 2 * (batch.T @ (batch @ weight - 1))
    return weight


def test_two_hosts(run_cluster):
    ended = run_cluster(SCRIPT, devices=2, JAXTRIBUTE_SIMULATE="tpu:2")
    for task in ended:
        sizes, devices, weight = task.lines
        assert sizes == "4 2 2"
        assert devices == "2"  # of this host
        np.testing.assert_allclose(list(map(float, weight.split())), expected(), rtol=1e-5)
        assert "2 simulated TPU devices" in task.stderr
