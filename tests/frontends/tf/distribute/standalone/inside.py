"""The same training in a program that is a task of the cluster."""

import json

from frontends import tf
from tests.frontends.tf.distribute.standalone.training import train

strategy = tf.distribute.MultiWorkerMirroredStrategy()
print(json.dumps(train(strategy)))
