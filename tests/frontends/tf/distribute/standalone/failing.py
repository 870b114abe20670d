"""A program whose function fails in one worker only, where the others wait for it, or do not, and that goes on."""

import json
import sys
import threading

import jax

from frontends import tf
from spmd.servers.remote import gang

gang._APART_SECONDS = 3.0  # else the test would wait so long for the first worker


def failures(*, waits: bool) -> list[str]:
    """Makes a strategy, counts on two threads, and returns what is found when a function fails in the second worker.

    Args:
        waits: whether the first worker waits for the second one meanwhile.
    """
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        count = tf.Variable(0.0)

    @tf.function
    def step():
        def replica():
            ones = tf.distribute.get_replica_context().all_reduce("SUM", tf.ones(()))
            count.assign(count + ones)

        strategy.run(replica)

    @tf.function
    def fail():
        if jax.process_index() == 1:
            raise KeyError("a mistake of one worker")
        if waits:
            step()

    def look():
        while not stopped.is_set():
            count.numpy()

    step()
    stopped = threading.Event()
    looking = threading.Thread(target=look)
    looking.start()
    for _ in range(50):
        step()
    stopped.set()
    looking.join()
    found = [str(count.numpy())]
    try:
        fail()
    except KeyError as error:
        found += [str(error), error.__notes__[-1], str(error.__cause__)]
    try:
        step()
    except tf.errors.UnavailableError as error:
        found.append(str(error))
    return found


tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
print(json.dumps([failures(waits=True), failures(waits=False)]))
