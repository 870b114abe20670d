"""A coordinator's program with several workers: counts, fails, builds a model late, and outlives a worker."""

import json
import sys
import time

import numpy as np

from frontends import tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
found: dict[str, object] = {}

with strategy.scope():
    count = tf.Variable(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer = tf.keras.optimizers.Adam(0.1)
    copies = tf.Variable(0)


@tf.function
def add() -> None:
    """Counts."""
    count.assign_add(1)


for _ in range(1000):
    coordinator.schedule(add)
coordinator.join()
found["count"] = int(count.numpy())

x, y = np.ones((4, 3), np.float32), np.zeros((4, 1), np.float32)


@tf.function
def train():
    """Makes the model's and the optimizer's variables at its first call."""

    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return strategy.reduce("SUM", strategy.run(replica), axis=None)


losses = [coordinator.schedule(train) for _ in range(50)]
coordinator.join()
found["losses"] = [float(loss.fetch()) for loss in losses]
found["weights"] = len(model.trainable_variables), len(optimizer.variables)
found["iterations"] = int(optimizer.iterations.numpy())


def fail() -> None:
    """Fails, on a worker."""
    raise ValueError("a mistake")


coordinator.schedule(fail)
try:
    coordinator.join()
except ValueError as error:
    found["error"] = [str(error), str(error.__cause__)]


class Unpicklable(Exception):
    """An error that stays where it is."""

    def __reduce__(self):
        raise TypeError("not to be pickled")


class OfTwo(Exception):
    """An error that pickle takes apart, and cannot put together again."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def unpicklable() -> None:
    """Fails."""
    raise Unpicklable("strange")


def of_two() -> None:
    """Fails."""
    raise OfTwo("strange", "too")


def leave() -> None:
    """Asks for the end of its process."""
    sys.exit(3)


def fail_in_dataset(element):
    """Fails, as a dataset reads."""
    raise KeyError("no such file")


@tf.function
def read(iterator):
    """Reads a batch."""
    return next(iterator)


def raised(function, *args: object) -> list[str]:
    """Returns class, text and cause of what a function raises."""
    result = coordinator.schedule(function, args=args)
    try:
        coordinator.join()
    except Exception as error:
        cause = error.__cause__
        while cause is not None and cause.__cause__ is not None:
            cause = cause.__cause__
        try:
            result.fetch()
        except type(error) as same:
            return [type(error).__name__, str(error), str(cause), str(same is error)]
    return ["nothing"]


broken = tf.data.Dataset.range(3).map(fail_in_dataset)
short = tf.data.Dataset.range(3)
found["errors"] = {
    "unpicklable": raised(unpicklable),
    "of two": raised(of_two),
    "leave": raised(leave),
    "dataset": raised(read, iter(coordinator.create_per_worker_dataset(lambda: broken))),
}
ends = iter(coordinator.create_per_worker_dataset(lambda: short))
values = [coordinator.schedule(read, args=(ends,)) for _ in range(20)]
try:
    coordinator.join()
except tf.errors.OutOfRangeError as error:
    found["end"] = [str(error), str(error.__cause__)]
found["cancelled"] = 0
for value in values:
    try:
        value.fetch()
    except tf.errors.CancelledError:
        found["cancelled"] += 1
    except tf.errors.OutOfRangeError:
        pass
doubled = coordinator.schedule(lambda value: value * 2, args=(losses[0],))
found["doubled"] = float(doubled.fetch()) / float(losses[0].fetch())


def slow() -> int:
    """Tells where it ran."""
    time.sleep(0.02)
    copies.assign_add(1)
    return tf.distribute.coordinator.experimental_get_current_worker_index()


ran = [coordinator.schedule(slow) for _ in range(400)]
ran[20].get()
print("half way", flush=True)
coordinator.join()
found["all_ran"] = all(isinstance(one.get(), int) for one in ran)
found["copies"] = int(copies.numpy())
print("finished", flush=True)
# The worker that was killed comes back.
found["back"] = False
end = time.monotonic() + 60
while not found["back"] and time.monotonic() < end:
    again = [coordinator.schedule(slow) for _ in range(20)]
    found["back"] = 1 in [one.get() for one in again]
print("back", flush=True)
# The server is killed now.


def join() -> None:
    """Waits for a function."""
    coordinator.schedule(slow)
    coordinator.join()


found["lost"] = []
for use in (join, count.numpy, lambda: coordinator.schedule(slow).fetch()):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            use()
        except tf.errors.UnavailableError as error:
            found["lost"].append(str(error))
            break
print(json.dumps(found))
sys.exit(0)
