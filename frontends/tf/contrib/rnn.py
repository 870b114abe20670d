"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell`, and the loops of `tf.nn`, under their first names."""

from frontends.tf._names import attributes

__getattr__, __dir__ = attributes(
    "tf.contrib.rnn",
    {},
    borrowed={
        "static_rnn": "frontends.tf.compat.v1.rnn",
        "LSTMBlockFusedCell": "frontends.tf.contrib.fused_rnn",
        "TimeReversedFusedRNN": "frontends.tf.contrib.fused_rnn",
        "LSTMBlockCell": "frontends.tf.compat.v1.rnn_cell:BasicLSTMCell",
        "GRUBlockCellV2": "frontends.tf.compat.v1.rnn_cell:GRUCell",
    },
    rest="frontends.tf.compat.v1.rnn_cell",
)
