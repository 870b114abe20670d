"""What the value of a variable means on several replicas."""

import enum


class Kind(enum.Enum):
    """What the value of a variable means on several replicas.

    Attributes:
        MIRRORED: one value, equal on all replicas: parameters, an optimizer's state.
        MEAN: written by each replica, then averaged over them: batch statistics.
        SUM: each replica adds its part; reading gives the sum: metrics.
        KEY: a random key; every replica draws from a stream of its own, folded from it.
        ROWS: an entry for each row of a batch, of which every replica has its own: the state of a stateful RNN.
        LOCAL: every replica has a value of its own; between steps they are stacked along a new first axis.
    """

    MIRRORED = "mirrored"
    MEAN = "mean"
    SUM = "sum"
    KEY = "key"
    ROWS = "rows"
    LOCAL = "local"
