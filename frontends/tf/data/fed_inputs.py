"""Placeholders of an `input_fn`, whose dataset a hook initializes: `session.run(iterator.initializer, feed_dict={...})`.

There is no session when a step is traced, which takes a batch. So the function is called twice: first with zeros for its
placeholders, so that it says which hook has which function; that is called with an `InputSession`, which only takes what
it feeds. Then the `input_fn` is called with these arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from frontends.tf import nest

# What stands for a size that is open, as long as nothing is fed.
_SOME_ROWS = 2


class Initializer:
    """What initializes an iterator; nothing is left to do when a session runs it."""


class FedInput(np.ndarray):
    """An array that was fed, or will be; unlike other arrays it can be a key of a `feed_dict`."""

    # By identity.
    __hash__ = object.__hash__  # type: ignore[assignment]

    @classmethod
    def of(cls, value: Any) -> "FedInput":
        """Makes one of what is fed."""
        return np.asarray(value).view(cls)

    @classmethod
    def fed(cls, value: Any, shape: Sequence[int | None] | None, dtype: str) -> "FedInput":
        """Makes one of what is fed to a placeholder: it gets the placeholder's dtype.

        Args:
            value: what is fed.
            shape: of the placeholder; None if its rank is open.
            dtype: of the placeholder.

        Raises:
            ValueError: the shape is another.
        """
        array = np.asarray(value, None if dtype == "string" else dtype)
        if shape is not None and (
            len(shape) != array.ndim
            or any(
                size not in (None, found) for size, found in zip(shape, array.shape, strict=True)
            )
        ):
            raise ValueError(
                f"Cannot feed value of shape {array.shape} for a placeholder of shape {tuple(shape)}. Give tf.placeholder that shape, "
                "or None for sizes that are open."
            )
        return cls.of(array)

    @classmethod
    def zeros(cls, shape: Sequence[int | None] | None, dtype: str) -> "FedInput":
        """Makes one for what will be."""
        sizes = [_SOME_ROWS if size is None else size for size in shape or ()]
        return cls.of(np.full(sizes, "") if dtype == "string" else np.zeros(sizes, dtype))


class NotYetError(RuntimeError):
    """A hook wants more of a session than to feed inputs."""


class InputSession:
    """A session that takes what is fed to iterators.

    Attributes:
        fed: arrays, by the index of the placeholder.
    """

    def __init__(self, placeholders: Sequence[FedInput]) -> None:
        """Knows the placeholders."""
        self._placeholders = placeholders
        self.fed: dict[int, Any] = {}

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> None:
        """Takes what is fed to initializers.

        Raises:
            NotYetError: something else is to run.
        """
        if not initializes(fetches):
            raise NotYetError("There is no session yet.")
        for key, value in (feed_dict or {}).items():
            for index, one in enumerate(self._placeholders):
                if one is key:
                    self.fed[index] = value

    def __getattr__(self, name: str) -> Any:
        raise NotYetError(f"There is no session yet, and no {name}.")


def initializes(fetches: Any) -> bool:
    """Tells whether a session is asked to run initializers of iterators alone."""
    found = nest.flatten(fetches)
    return bool(found) and all(isinstance(one, Initializer) for one in found)


# Gives arrays for placeholders, by their index.
Feed = Callable[[Sequence[FedInput]], Mapping[int, Any]]


def feeding(hooks: Sequence[Any]) -> Feed:
    """Makes what asks hooks for arrays.

    Args:
        hooks: whose `after_create_session` runs initializers.
    """

    def feed(placeholders: Sequence[FedInput]) -> Mapping[int, Any]:
        session = InputSession(placeholders)
        for hook in hooks:
            if len(session.fed) < len(placeholders):
                try:
                    hook.after_create_session(session, None)
                except NotYetError:
                    continue
        return session.fed

    return feed
