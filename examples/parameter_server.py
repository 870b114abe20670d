"""A recommender with large embeddings on parameter servers: a TensorFlow script, its import line changed.

    python examples/parameter_server.py

It follows TensorFlow's tutorial "Parameter server training". Started as it is, servers and workers are in this
process; in a cluster, TF_CONFIG says which task a process is, and workers and servers have processes of their own:

    jaxtribute launch --chief --workers 2 --ps 1 examples/parameter_server.py

Users and items are of hidden kinds, and a table of 6 x 6 chances says which kind of user likes which kind of item. So
the best possible loss is known. The model learns a vector for each of 200,000 users and 20,000 items; a step fetches and
updates the rows of its pairs only.
"""

import argparse
import os
import time

import numpy as np

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Train a recommender on parameter servers.")
parser.add_argument("--epochs", type=int, default=6, help="epochs to train (default: 6)")
parser.add_argument("--steps", type=int, default=250, help="steps of an epoch (default: 250)")
parser.add_argument(
    "--workers", type=int, default=2, help="workers, without a cluster (default: 2)"
)
parser.add_argument(
    "--servers", type=int, default=2, help="servers, without a cluster (default: 2)"
)
arguments = parser.parse_args()

USERS, ITEMS, WIDTH, KINDS, BATCH = 200_000, 20_000, 32, 6, 1024


def cluster_resolver():
    """Finds the cluster of TF_CONFIG, or makes one in this process."""
    if "TF_CONFIG" in os.environ:
        return tf.distribute.cluster_resolver.TFConfigClusterResolver()
    ports = iter(range(24000, 25000))
    jobs = {"worker": arguments.workers, "ps": arguments.servers}
    cluster = tf.train.ClusterSpec(
        {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
    )
    for job, count in jobs.items():
        for index in range(count):
            tf.distribute.Server(cluster, job_name=job, task_index=index, protocol="grpc")
    return tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")


resolver = cluster_resolver()
if resolver.task_type in ("worker", "ps"):
    tf.distribute.Server(
        resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id
    ).join()  # serves until it is killed

servers = resolver.cluster_spec().num_tasks("ps")

generator = np.random.default_rng(0)
user_kinds, item_kinds = (generator.integers(0, KINDS, n) for n in (USERS, ITEMS))
chances = generator.choice([0.1, 0.9], (KINDS, KINDS)).astype(np.float32)


def pairs_and_labels(count, seed):
    """Draws pairs of a user and an item, and whether the user likes the item. Some are more active than others."""
    generator = np.random.default_rng(seed)
    pairs = np.stack(
        [(n * generator.random(count) ** 6).astype(np.int32) for n in (USERS, ITEMS)], 1
    )
    chance = chances[user_kinds[pairs[:, 0]], item_kinds[pairs[:, 1]]]
    return pairs, (generator.random(count) < chance).astype(np.float32), chance


def cross_entropy(labels, probabilities):
    p = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return float(-np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p)))


partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(
    min_shard_bytes=1 << 20, max_shards=servers
)
strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=partitioner)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

with strategy.scope():
    user = tf.keras.Input((), dtype=tf.int32, name="user")
    item = tf.keras.Input((), dtype=tf.int32, name="item")
    users = tf.keras.layers.Embedding(USERS, WIDTH, name="users")(user)
    items = tf.keras.layers.Embedding(ITEMS, WIDTH, name="items")(item)
    hidden = tf.keras.layers.Concatenate()([users, items, users * items])
    hidden = tf.keras.layers.Dense(64, activation="relu")(hidden)
    model = tf.keras.Model([user, item], tf.keras.layers.Dense(1)(hidden))
    optimizer = tf.keras.optimizers.Adagrad(0.05, initial_accumulator_value=1e-7)
    mean_loss = tf.keras.metrics.Mean()
    auc = tf.keras.metrics.AUC(from_logits=True)


def dataset_fn(context=None):
    # Each worker draws pairs of its own.
    worker = tf.distribute.coordinator.experimental_get_current_worker_index()
    pairs, labels, _ = pairs_and_labels(BATCH * 2000, seed=1 + worker)
    return tf.data.Dataset.from_tensor_slices((pairs, labels)).repeat().batch(BATCH)


@tf.function
def train_step(iterator):
    def replica_fn(pairs, labels):
        with tf.GradientTape() as tape:
            logits = model([pairs[:, 0], pairs[:, 1]], training=True)[:, 0]
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean_loss.update_state(loss)

    strategy.run(replica_fn, args=next(iterator))


per_worker_iterator = iter(coordinator.create_per_worker_dataset(dataset_fn))
megabytes = sum(int(np.prod(variable.shape)) for variable in model.variables) * 4 / 1e6
print(
    f"{strategy.num_workers} workers, {servers} parameter server{'s' * (servers != 1)}, "
    f"{megabytes:.0f} MB of variables"
)
for epoch in range(arguments.epochs):
    start = time.monotonic()
    mean_loss.reset_state()
    for _ in range(arguments.steps):
        coordinator.schedule(train_step, args=(per_worker_iterator,))
    coordinator.join()
    rate = arguments.steps / (time.monotonic() - start)
    print(
        f"Epoch {epoch + 1}, loss: {mean_loss.result():.4f}, {rate:.0f} steps/s, {rate * BATCH:.0f} pairs/s",
        flush=True,
    )

pairs, labels, chance = pairs_and_labels(50_000, seed=0)
logits = model.predict([pairs[:, 0], pairs[:, 1]], batch_size=5000, verbose=0)[:, 0]
auc.update_state(labels, logits)
loss, best = cross_entropy(labels, 1 / (1 + np.exp(-logits))), cross_entropy(labels, chance)
print(
    f"Pairs that it has not seen: loss {loss:.4f} (best possible {best:.4f}, by chance {np.log(2):.4f}), "
    f"AUC {auc.result():.3f}"
)
