"""Iterators of TensorFlow 1, whose `get_next` in an `input_fn` stands for every element that they will give.

A graph computes with the result of `get_next` again in each step. Here an `input_fn` is called with the first element in
its place. If it only puts the element's parts in another order, so does a map function of the dataset. If it computes with
them, it is itself the map function: it is called again, with other elements in place of the first one.
"""

import contextvars
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.data.base import DatasetBase
from frontends.tf.data.fed_inputs import FedInput, Feed, Initializer
from frontends.tf.data.iterator import OutOfRangeError
from spmd.assigned import assigned
from spmd.input.pipeline import peeking


class _Call:
    """A call of an `input_fn`.

    Attributes:
        datasets: those whose elements it asked for, in that order.
        leaves: of what it got.
        placeholders: that it made, in that order.
    """

    def __init__(
        self, fed: tuple[Nested, ...] | None = None, inputs: Mapping[int, Any] | None = None
    ) -> None:
        """Starts one.

        Args:
            fed: elements to give, in the order in which it asks; None gives the first ones.
            inputs: arrays for its placeholders, by their index; without one it gets zeros.
        """
        self.datasets: list[Any] = []
        self.leaves: list[Any] = []
        self.placeholders: list[FedInput] = []
        self._fed, self._inputs = fed, inputs or {}

    def placeholder(self, shape: Sequence[int | None] | None, dtype: str) -> FedInput:
        """Gives what stands for a placeholder."""
        index = len(self.placeholders)
        made = (
            FedInput.fed(self._inputs[index], shape, dtype)
            if index in self._inputs
            else FedInput.zeros(shape, dtype)
        )
        self.placeholders.append(made)
        return made

    def element(self, dataset: Any) -> Nested:
        """Gives an element of a dataset."""
        found = _first(dataset) if self._fed is None else self._fed[len(self.datasets)]
        self.datasets.append(dataset)
        self.leaves += nest.flatten(found)  # now: the function may take parts out
        return found


_CALL: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("tf_input_fn", default=None)


class InputIterator:
    """An iterator that an `input_fn` makes.

    Attributes:
        initializer: what a hook may run, to feed placeholders.
    """

    def __init__(self, dataset: Any, call: _Call) -> None:
        """Wraps a dataset."""
        self.initializer = Initializer()
        self._dataset, self._call, self._asked = dataset, call, False

    @property
    def element_spec(self) -> Nested:
        """Shape and type of an element's components; see the dataset's `element_spec`."""
        return self._dataset.element_spec

    def get_next(self, name: str | None = None) -> Nested:
        """Returns what stands for each element.

        Raises:
            NotImplementedError: it is called a second time.
            OutOfRangeError: the dataset is empty.

        Source: `tf.compat.v1.data.Iterator.get_next`.
        """
        if self._asked:
            raise NotImplementedError(
                "An input_fn called get_next() twice on one iterator, for two elements in each step. Call it once, and put the "
                "elements together with dataset.batch(2)."
            )
        self._asked = True
        return self._call.element(self._dataset)


def make_one_shot_iterator(dataset: Any) -> Any:
    """Makes an iterator; in an `input_fn` of an estimator, its `get_next()` stands for all batches.

    Args:
        dataset: of `tf.data`.

    Returns:
        An iterator. Outside of an `input_fn` it is `iter(dataset)`.

    Examples:
        >>> from frontends import tf
        >>> def input_fn():
        ...     dataset = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [0, 1])).batch(2)
        ...     features, labels = tf.data.make_one_shot_iterator(dataset).get_next()
        ...     return {"x": features}, labels

    Source: `tf.compat.v1.data.make_one_shot_iterator`.
    """
    call = _CALL.get()
    return iter(dataset) if call is None else InputIterator(dataset, call)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Makes an iterator whose `initializer` a hook may run, to feed placeholders; see `make_one_shot_iterator`.

    Args:
        dataset: of `tf.data`.
        shared_name: accepted, and not used.

    Raises:
        RuntimeError: it is called elsewhere than in an `input_fn`.

    Source: `tf.compat.v1.data.make_initializable_iterator`.
    """
    call = _CALL.get()
    if call is None:
        raise RuntimeError(
            "make_initializable_iterator is for sessions, outside of an input_fn of an estimator. Write: for element in dataset."
        )
    return InputIterator(dataset, call)


def input_placeholder(shape: Sequence[int | None] | None, dtype: str) -> FedInput | None:
    """Makes a placeholder of the `input_fn` that is being called; None if none is.

    Args:
        shape: None if its rank is open.
        dtype: its name.
    """
    call = _CALL.get()
    return None if call is None else call.placeholder(shape, dtype)


def input_of(input_fn: Callable[[], Any], feed: Feed | None = None) -> Any:
    """Calls an `input_fn`.

    Args:
        input_fn: returns a dataset, or tensors, or what it made of elements of iterators.
        feed: gives arrays for its placeholders; None if it makes none.

    Returns:
        A dataset, or tensors.

    Raises:
        RuntimeError: nobody feeds a placeholder.
        ValueError: what is fed has another shape than the placeholder.
    """
    call, inputs = _Call(), None
    try:
        made = _called(input_fn, call)
    except Exception:
        if not call.placeholders:
            raise
        made = None  # zeros may not be what it can compute with
    if call.placeholders:
        inputs = {} if feed is None else feed(call.placeholders)
        if len(inputs) < len(call.placeholders):
            raise RuntimeError(
                f"An input_fn makes {len(call.placeholders)} placeholders, and {len(inputs)} of them are fed. Give train, evaluate or "
                "predict the hook whose after_create_session runs session.run(iterator.initializer, feed_dict={placeholder: array}), "
                "or make the dataset of the arrays."
            )
        call = _Call(inputs=inputs)
        made = _called(input_fn, call)
    if not call.datasets or isinstance(made, DatasetBase):
        return made
    dataset = type(call.datasets[0]).zip(tuple(call.datasets))
    places = _places(made, call.leaves)
    if places is not None:
        return dataset.map(
            lambda *elements: nest.pack_sequence_as(
                made, [nest.flatten(elements)[place] for place in places]
            )
        )
    return dataset.map(lambda *elements: _called(input_fn, _Call(elements, inputs)))


def _called(input_fn: Callable[[], Any], call: _Call) -> Any:
    with assigned(_CALL, call):
        made = input_fn()
    # Features alone: there are no elements None.
    is_alone = isinstance(made, tuple) and len(made) == 2 and made[1] is None
    return made[0] if is_alone else made


def _first(dataset: Any) -> Nested:
    with peeking():
        iterator = iter(dataset)
        try:
            return iterator.get_next()
        except OutOfRangeError:
            raise OutOfRangeError(
                "An input_fn asked an iterator for an element, but its dataset is empty."
            ) from None
        finally:
            iterator.close()


def _places(made: Nested, leaves: list[Any]) -> list[int] | None:
    """Finds the leaves of a structure among others, by identity; None if it has further ones."""
    known = list(map(id, leaves))
    if len(set(known)) < len(known):
        return None
    found = [id(leaf) for leaf in nest.flatten(made)]
    return list(map(known.index, found)) if set(found) <= set(known) else None
