"""What a variable is to a training step, for reports: nothing that is computed depends on it."""

import enum


class Role(enum.Enum):
    """What a variable is to a training step.

    Attributes:
        PARAMETER: what the training changes: weights.
        OPTIMIZER: what the optimizer keeps: moments, counts.
        OTHER: anything else: statistics, metrics, random keys, and what is not known.
    """

    PARAMETER = "parameters"
    OPTIMIZER = "optimizer"
    OTHER = "other state"
