"""The mean loss of an evaluation, whatever the number of its steps."""

from collections import deque
from typing import Any

import numpy as np

# How many steps may be under way before one is waited for.
_UNDER_WAY = 16


class RunningLoss:
    """Adds up losses and the number of batches, a few steps behind those that run."""

    def __init__(self) -> None:
        """Starts with none."""
        self._under_way: deque[Any] = deque()
        self._sums = np.zeros(2)

    def add(self, loss_and_count: Any) -> None:
        """Takes what a step gives: the sum of the losses of its batches, and their number."""
        self._under_way.append(loss_and_count)
        if len(self._under_way) > _UNDER_WAY:
            self._sums += np.asarray(self._under_way.popleft())

    def mean(self) -> np.float32:
        """Returns the mean over batches; waits for all steps. It is 0 without any, as in TensorFlow."""
        while self._under_way:
            self._sums += np.asarray(self._under_way.popleft())
        loss, count = self._sums
        return np.float32(loss / count if count else 0)
