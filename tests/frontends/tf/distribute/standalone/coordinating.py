"""A coordinator that is no task of the cluster of its workers and parameter servers."""

import json
import sys

from frontends import tf

tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
strategy = tf.distribute.ParameterServerStrategy()
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    count = tf.Variable(0)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")


@tf.function
def add() -> None:
    """Counts."""
    count.assign_add(1)


for _ in range(200):
    coordinator.schedule(add)
coordinator.join()
x = tf.random.normal((64, 3))
data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True)))
history = model.fit(data.repeat().batch(16), epochs=2, steps_per_epoch=20, verbose=0)
print(json.dumps({"count": int(count.numpy()), "losses": history.history["loss"]}))
