"""Iterators of datasets, under TensorFlow's names: `get_next`, and optionals that mark the end."""

from collections.abc import Callable, Iterator
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Nested
from frontends.tf.data.base import DatasetBase
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.tracing import check_may_advance
from frontends.tf.ops.convert import convert_to_tensor
from spmd.input import Position
from spmd.replica import current_frame

_END = (
    "End of sequence: the iterator has handed out all elements. Start another pass with "
    "iter(dataset), or ask get_next_as_optional(), whose has_value() tells the end."
)


class OutOfRangeError(IndexError):
    """An iterator has no further element, and was asked for one by `get_next` or in a `tf.function`.

    A `tf.TensorArray` raises it for an index that it does not have.

    Source: `tf.errors.OutOfRangeError`.
    """

    def __init__(self, message: str = _END) -> None:
        """Makes the error."""
        super().__init__(message)


class ElementIterator(Iterator[Any]):
    """The methods of all datasets' iterators."""

    _dataset: Any

    def get_next(self) -> Nested:
        """Returns the next element.

        Raises:
            OutOfRangeError: there is none. (An IndexError; `next(iterator)` raises StopIteration.)

        Source: `tf.data.Iterator.get_next`, `tf.distribute.DistributedIterator.get_next`.
        """
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError from None

    def get_next_as_optional(self) -> "Optional":
        """Returns the next element, or an optional without one.

        Returns:
            An object with `has_value()` and `get_value()`.

        Source: `tf.data.Iterator.get_next_as_optional`,
        `tf.distribute.DistributedIterator.get_next_as_optional`.
        """
        try:
            return Optional(next(self), has_value=True)
        except StopIteration:
            return Optional(None, has_value=False)

    @property
    def element_spec(self) -> Nested:
        """Shape and type of an element's components; see the dataset's `element_spec`."""
        return self._dataset.element_spec


@final
class DatasetIterator(ElementIterator):
    """One pass over a `tf.data.Dataset`.

    Examples:
        >>> from frontends import tf
        >>> iterator = iter(tf.data.Dataset.range(2))
        >>> print(next(iterator), iterator.get_next())
        0 1
        >>> bool(iterator.get_next_as_optional().has_value())
        False

    Source: `tf.data.Iterator`.
    """

    def __init__(
        self,
        elements: Iterator[Nested],
        dataset: DatasetBase,
        show: Callable[[Nested], Nested] = as_tensors,
    ) -> None:
        """Wraps a pass; `iter(dataset)` does.

        Args:
            elements: the pass.
            dataset: what it passes over.
            show: makes of an element what is handed out.
        """
        self._show = show
        self._frame = current_frame()
        self._elements = elements
        self._dataset = dataset
        self._progress = Position(dataset.position())

    def __next__(self) -> Nested:
        check_may_advance(self._frame)
        element = next(self._elements)
        self._progress.advance()
        return self._show(element)

    def get_state(self) -> dict[str, Any]:
        """Returns how far the pass has come, for a checkpoint.

        Returns:
            Which pass it is, and how many elements were handed out; a dict of JSON's types.
        """
        return self._progress.state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues where another pass over the same data was, with its next element.

        Args:
            state: what its `get_state` returned, in this process or an earlier one.

        Examples:
            >>> from frontends import tf
            >>> first, second = (iter(tf.data.Dataset.range(9).shuffle(9)) for _ in range(2))
            >>> _ = next(first)
            >>> second.set_state(first.get_state())
            >>> list(first) == list(second)
            True
        """
        self.close()
        self._progress.go_to(state)
        self._elements = iter(self._dataset.resumed_at(state["position"], state["batches"]))

    def close(self) -> None:
        """Ends the pass and closes what it reads from; calling it again does nothing."""
        close = getattr(self._elements, "close", None)
        if close is not None:
            close()


@final
class Optional:
    """An element, or none.

    Examples:
        >>> bool(Optional(None, has_value=False).has_value())
        False

    Source: `tf.experimental.Optional`.
    """

    def __init__(self, value: Nested, *, has_value: bool) -> None:
        """Wraps a value.

        Args:
            value: the element.
            has_value: whether there is one.
        """
        self._value = value
        self._has_value = has_value

    @classmethod
    def from_value(cls, value: Nested) -> "Optional":
        """Wraps an element, or any nest of tensors."""
        return cls(jax.tree.map(convert_to_tensor, value), has_value=True)

    @classmethod
    def empty(cls, element_spec: Nested) -> "Optional":
        """Wraps nothing, where there could be an element of this spec."""
        return cls(None, has_value=False)

    def has_value(self) -> jax.Array:
        """Tells whether there is an element, as a bool scalar."""
        return jnp.asarray(np.bool_(self._has_value))

    def get_value(self) -> Nested:
        """Returns the element.

        Raises:
            ValueError: there is none.
        """
        if not self._has_value:
            raise ValueError("This optional has no value. Ask has_value() first.")
        return self._value
