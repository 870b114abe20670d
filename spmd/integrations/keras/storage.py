"""Which variable holds the value that a Keras variable shows."""

from spmd.integrations.keras.typing import Variable


def storage_of(variable: Variable) -> Variable:
    """Returns the variable that stores the value: another library's, if a Keras variable stands for one."""
    return getattr(variable, "stands_for", variable)
