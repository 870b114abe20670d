"""Which rows of an array of a step are data, and which are padding."""

from typing import Any

import jax
import numpy as np

from spmd.replica import current_frame, masks_of_length


def valid(values: jax.Array) -> Any:
    """Tells which rows of values are data and no padding, as an array that broadcasts to them.

    Returns:
        Booleans, `[rows, 1, ...]`; True if the values are not those of the rows of one batch, of which no row is padding.
    """
    frame = current_frame()
    if frame is None or not frame.masks or not values.ndim:
        return np.True_
    fitting = masks_of_length(frame.masks, values.shape[0])
    if len(fitting) != 1:
        return np.True_
    return fitting[0].rows.reshape(-1, *[1] * (values.ndim - 1))
