"""What tests of variables share: the modes, and replicas that write."""

import numpy as np

from frontends import tf

SUM, MEAN = tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN
NONE, FIRST = tf.VariableAggregation.NONE, tf.VariableAggregation.ONLY_FIRST_REPLICA
ON_READ = tf.VariableSynchronization.ON_READ


def make_variable(strategy, initial=10.0, **modes):
    with strategy.scope():
        return tf.Variable(initial, **modes)


def each_writes(strategy, variable, verb):
    """Every replica writes its index and one."""

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return getattr(variable, verb)(tf.cast(index + 1, variable.dtype))

    return [float(value) for value in strategy.run(replica).values]


def components(variable):
    return [np.asarray(value).tolist() for value in variable.values]
