"""Timers of hooks."""

import time


class SecondOrStepTimer:
    """Tells when enough steps or seconds have passed.

    Source: `tf.compat.v1.train.SecondOrStepTimer`.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        """Makes a timer that triggers at once.

        Args:
            every_secs: how many seconds lie between two triggers.
            every_steps: how many steps do.

        Raises:
            ValueError: both are given, or none.
        """
        if (every_secs is None) == (every_steps is None):
            raise ValueError("Either every_secs or every_steps should be provided, and not both.")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Makes it trigger at once."""
        self._step: int | None = None
        self._time = 0.0

    def next_step(self) -> int | None:
        """Returns the step of the next trigger; None if that depends on the time."""
        if self._steps is None or self._step is None:
            return None
        return self._step + self._steps

    def should_trigger_for_step(self, step: int) -> bool:
        """Tells whether enough has passed at a step; not twice at the same one."""
        if self._step is None:
            return True
        if step == self._step:
            return False
        if self._secs is not None:
            return time.monotonic() >= self._time + self._secs
        return self._steps is not None and step >= self._step + self._steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes a trigger; returns how many seconds and steps have passed since the one before, or None twice."""
        now = time.monotonic()
        passed = (None, None) if self._step is None else (now - self._time, step - self._step)
        self._step, self._time = step, now
        return passed

    def last_triggered_step(self) -> int | None:
        """Returns the step of the last trigger."""
        return self._step


class NeverTriggerTimer:
    """A timer of a hook that acts only at the end."""

    def reset(self) -> None:
        """Does nothing."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """Returns None twice: there was no trigger before."""
        return None, None

    def last_triggered_step(self) -> None:
        """Returns None."""
