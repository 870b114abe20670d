"""`tf.distribute.ReduceOp`."""

import enum
from typing import Literal


class ReduceOp(enum.Enum):
    """How values of replicas are combined.

    Examples:
        >>> ReduceOp.SUM
        <ReduceOp.SUM: 'SUM'>

    Source: `tf.distribute.ReduceOp`.
    """

    SUM = "SUM"
    MEAN = "MEAN"


def op_name(op: ReduceOp | str) -> Literal["sum", "mean"]:
    """Returns the engine's name of a `ReduceOp`, or of its name in any case.

    Raises:
        ValueError: there is no such reduction.

    Examples:
        >>> op_name("Sum")
        'sum'
    """
    name = op.value if isinstance(op, ReduceOp) else op
    if isinstance(name, str) and name.upper() == "SUM":
        return "sum"
    if isinstance(name, str) and name.upper() == "MEAN":
        return "mean"
    raise ValueError(
        f"Unknown reduction {op!r}. Expected tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN, "
        "'SUM' or 'MEAN'."
    )
