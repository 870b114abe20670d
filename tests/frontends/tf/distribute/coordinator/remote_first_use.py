"""A coordinator's program whose functions use variables that no worker has seen, and that were made anywhere."""

import contextlib
import json

from frontends import tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
found: dict[str, object] = {}

with strategy.scope():
    weight = tf.Variable(1.0)
    rows = tf.Variable([1.0, 2.0])
found["result"] = coordinator.schedule(lambda: weight).fetch().item()
found["results"] = coordinator.schedule(lambda: {"rows": rows}).fetch()["rows"].tolist()

outside = tf.Variable(5.0)


@tf.function
def add():
    """Counts in a variable that was made outside of the scope."""
    outside.assign_add(1.0)
    return outside.read_value()


add()  # compiled here, before workers have the variable
counts = [coordinator.schedule(add) for _ in range(6)]
coordinator.join()
add()
found["outside"] = [sorted(float(one.fetch()) for one in counts), float(outside.numpy())]

optimizer = tf.keras.optimizers.SGD(0.5, momentum=0.5)


@tf.function
def train() -> None:
    """Trains by an optimizer that was made outside of the scope."""

    def replica() -> None:
        with tf.GradientTape() as tape:
            loss = 2.0 * weight
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    strategy.run(replica)


for _ in range(3):
    coordinator.schedule(train)
coordinator.join()
found["optimizer"] = [float(weight.numpy()), int(optimizer.iterations.numpy())]

remote_value, lines = coordinator.schedule(lambda: 1.0), (line for line in ["a line"])
data = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(3))
mistakes = {
    "captured result": (lambda: remote_value.fetch(), ()),
    "nested schedule": (lambda: coordinator.schedule(lambda: 1.0), ()),
    "no iterator": (lambda data: next(data), (data,)),
    "no iterator, traced": (tf.function(lambda data: next(data)), (data,)),
    "generator": (lambda: next(lines), ()),
}
found["errors"] = errors = {}
for name, (function, arguments) in mistakes.items():
    try:
        coordinator.schedule(function, args=arguments).fetch()
    except Exception as error:
        errors[name] = [type(error).__name__, str(error)]
    with contextlib.suppress(Exception):  # the same
        coordinator.join()
print(json.dumps(found), flush=True)
