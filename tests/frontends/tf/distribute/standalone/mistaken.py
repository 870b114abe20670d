"""A program that fits a model on data of a wrong shape, of which several batches are under way at once."""

import json
import sys

import numpy as np

from frontends import tf

tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(json.loads(sys.argv[1])))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.ones((256, 4), np.float32)
good = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(32)
wrong = tf.data.Dataset.from_tensor_slices((np.ones((8, 9), np.float32), x[:8, :1])).batch(4)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(good, verbose=0)
found = []
for run in (model.fit, model.evaluate, model.fit):
    try:
        run(wrong, verbose=0)
    except Exception as error:  # whatever it is, the test sees it
        found.append(f"{type(error).__name__}: {error}")
model.fit(good, verbose=0)
print(json.dumps([*found, int(model.optimizer.iterations.numpy())]))
