"""A program whose steps run in a cluster that it is no task of."""

import json
import os
import sys
import tempfile

from frontends import tf
from tests.frontends.tf.distribute.standalone.training import data, train

tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
found = train(strategy)
found["replicas"] = strategy.num_replicas_in_sync
found["strategy"] = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)

batch = next(iter(strategy.experimental_distribute_dataset(data())))
sums = strategy.run(lambda x, y: tf.reduce_sum(tf.ones_like(y)), args=batch)
found["distributed"] = isinstance(sums, tf.distribute.DistributedValues)
found["local_results"] = [float(one) for one in strategy.experimental_local_results(sums)]
found["reduced"] = float(strategy.reduce("SUM", sums, axis=None))
found["gathered"] = strategy.gather(batch[0], axis=0).shape[0]
parts = strategy.distribute_datasets_from_function(
    lambda context: tf.data.Dataset.range(4).shard(
        context.num_input_pipelines, context.input_pipeline_id
    )
)
found["parts"] = [int(strategy.reduce("SUM", part, axis=None)) for part in parts]

with strategy.scope():
    count = tf.Variable(0.0)
    own = tf.Variable(
        0.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


@tf.function
def add(amount):
    """Adds to one value, and to one for each replica."""

    def replica():
        count.assign(count + amount)
        own.assign_add(amount)

    strategy.run(replica)


iterator = iter(strategy.experimental_distribute_dataset(data()))


@tf.function
def rows(iterator):
    """Counts the rows of the next batch."""
    x, _ = next(iterator)
    return strategy.reduce("SUM", strategy.run(lambda: 1.0), axis=None), strategy.gather(x, axis=0)


for _ in range(3):
    add(2.0)
found["count"] = [float(count.numpy()), float(own.numpy())]
count.assign(10.0)
add(1.0)
found["assigned"] = float(count.numpy())
with tempfile.TemporaryDirectory() as folder:
    checkpoint = tf.train.Checkpoint(count=count)
    path = checkpoint.save(os.path.join(folder, "checkpoint"))
    add(1.0)
    checkpoint.restore(path)
add(1.0)
found["restored"] = float(count.numpy())
found["read"] = []
try:
    while True:
        found["read"].append(len(rows(iterator)[1]))
except tf.errors.OutOfRangeError:
    pass


@tf.function
def fail(x):
    """Prints and fails, in the cluster."""
    print("traced in the cluster")
    raise KeyError("a mistake")


try:
    fail(tf.constant(1.0))
except KeyError as error:
    found["error"] = [str(error), str(error.__cause__)]


@tf.function
def always():
    """Makes a variable at each call."""
    return tf.Variable(1.0)


for name, call in (
    ("always", always),
    ("verify", lambda: strategy.verify(lambda: None)),
    ("position", iterator.get_state),
):
    try:
        call()
    except (ValueError, NotImplementedError) as error:
        found[name] = str(error)
with tf.distribute.OneDeviceStrategy("cpu:0").scope():
    found["here"] = int(tf.function(os.getpid)()) == os.getpid()
found["there"] = int(tf.function(os.getpid)()) != os.getpid()
tf.function(lambda x: tf.print("a number:", x))(tf.constant(2))
print(json.dumps(found))
