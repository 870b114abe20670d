"""What every dataset holds, and how one is made from another."""

import abc
import contextlib
import functools
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, Self, SupportsIndex, TypeVar

from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.data.options import Options
from frontends.tf.data.sent_functions import sending_of
from frontends.tf.data.tracing import map_on_host
from frontends.tf.ops.map_stream import CompiledDraws, MapStream, drawing_from
from frontends.tf.ops.seeds import op_entropy
from frontends.tf.ops.unwritten import knowing_shapes
from spmd.input.pipeline import Form, Lazy, MapFunction, ShuffleOrder, TracedDraws
from spmd.servers import keep_on_workers

T = TypeVar("T")


class DatasetBase(abc.ABC):
    """The state of a dataset, which never changes, except that shuffles count their passes.

    Args:
        make_form: Makes the runnable side; called when the dataset is first read.
        cardinality: The number of elements, or one of the two constants.
        full_batch_rows: The rows of a full batch, where the elements are batches of known size.
        orders: The shuffles that the elements come through.
        options: The settings.

    Attributes:
        full_batch_rows: As above; see `spmd.input.SizedBatches`.
    """

    def __init__(
        self,
        make_form: Callable[[], Form],
        cardinality: int,
        full_batch_rows: int | None = None,
        orders: Iterable[ShuffleOrder] = (),
        options: Options | None = None,
    ) -> None:
        self._form = Lazy(make_form)
        self._cardinality = cardinality
        self.full_batch_rows = full_batch_rows
        self._orders = tuple(dict.fromkeys(orders))
        self._options = options or Options()

    def position(self) -> list[Any]:
        """Returns what the order of the next pass depends on: the state of each shuffle.

        No TensorFlow symbol; see `spmd.input.ResumableBatches`.
        """
        return [order.state for order in self._orders]

    def resumed_at(self, position: Iterable[Any], batches: int) -> Self:
        """Returns this dataset as it was at a position, without the first elements of the pass.

        Skipping is cheap where the elements are rows in memory or batches of them. No TensorFlow symbol; see
        `spmd.input.ResumableBatches`.

        Args:
            position: what `position` returned before the pass, in this process or an earlier one.
            batches: how many elements to leave out.

        Raises:
            ValueError: the position is of a dataset with another number of shuffles.
        """
        for order, state in zip(self._orders, position, strict=True):
            order.state = state
        dataset: Any = self
        return dataset.skip(batches)

    @property
    @abc.abstractmethod
    def element_spec(self) -> Nested:
        """The specs of an element."""

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    def _derive(
        self,
        transform: Callable[[Form], Form],
        cardinality: int,
        order: ShuffleOrder | None = None,
    ) -> Self:
        """Makes a dataset from this one, whose elements are batches of the same size, if any."""
        return self._rebatched(transform, cardinality, self.full_batch_rows, order)

    def _rebatched(
        self,
        transform: Callable[[Form], Form],
        cardinality: int,
        rows: int | None,
        order: ShuffleOrder | None = None,
    ) -> Self:
        """Makes a dataset from this one, whose elements are batches of `rows` rows, if any."""
        orders = (*self._orders, order) if order else self._orders
        return type(self)(lambda: transform(self._form()), cardinality, rows, orders, self._options)

    @classmethod
    def _combined(
        cls,
        parts: Sequence["DatasetBase"],
        combine: Callable[[list[Form]], Form],
        cardinality: int,
        orders: Iterable[ShuffleOrder] = (),
    ) -> Self:
        """Makes a dataset from several, with their shuffles before `orders`, and the options of them all."""
        rows = {part.full_batch_rows for part in parts}
        return cls(
            lambda: combine([part._form() for part in parts]),
            cardinality,
            rows.pop() if len(rows) == 1 else None,
            [*(order for part in parts for order in part._orders), *orders],
            functools.reduce(Options.merge, (part._options for part in parts), Options()),
        )


def integer(value: SupportsIndex, name: str, minimum: int | None = None) -> int:
    """Checks an argument that must be an integer.

    Args:
        value: A Python or NumPy integer.
        name: ``method: argument``, for the errors.
        minimum: The smallest value allowed.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is smaller than `minimum`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, got {value!r:.80} ({type(value).__name__}).\n"
            f"Fix: int({value!r:.80})"
        ) from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {number}.")
    return number


def function_of(
    value: Callable[..., T],
    name: str,
    fix: str = "pass the function itself, without calling it.",
) -> Callable[..., T]:
    """Checks an argument that must be a function.

    Args:
        value: What the user passed.
        name: ``method: argument``, for the error.
        fix: What to write instead.

    Raises:
        TypeError: It cannot be called.
    """
    if not callable(value):
        raise TypeError(
            f"{name} must be a function, got {value!r:.80} ({type(value).__name__}).\nFix: {fix}"
        )
    return value


def check_datasets(
    values: Iterable[object],
    op_name: str,
    fix: str = "Dataset.from_tensor_slices(array) makes a dataset of an array's rows.",
) -> None:
    """Raises TypeError unless all values are datasets."""
    for value in values:
        if not isinstance(value, DatasetBase):
            raise TypeError(
                f"{op_name}: expected a dataset, got {value!r:.80} ({type(value).__name__}).\nFix: {fix}"
            )


def returned_dataset(value: object, op_name: str) -> Any:
    """Returns what a function of the user returned, or raises TypeError if that is not a dataset."""
    if not isinstance(value, DatasetBase):
        raise TypeError(
            f"{op_name}: the function must return a dataset, got {type(value).__name__}.\n"
            "Fix: return the dataset that it made, or Dataset.from_tensors(value), which has one element."
        )
    return value


def element_count(value: SupportsIndex, name: str) -> int | None:
    """Checks an argument that is a number of elements; returns None for a negative one, which means all."""
    number = integer(value, name)
    return None if number < 0 else number


def map_function(
    value: Callable[..., Any],
    name: str,
    wrapped: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> MapFunction:
    """Prepares a function of elements, which may draw from `tf.random`.

    Args:
        value: What the user passed.
        name: ``method: argument``, for the error.
        wrapped: Makes of the function the one to call.

    Raises:
        TypeError: It cannot be called.
    """
    function, stream = knowing_shapes(converted(function_of(value, name))), MapStream()
    sending = sending_of(value, functools.partial(map_function, name=name, wrapped=wrapped), stream)
    if wrapped is not None:
        function = wrapped(function)

    @contextlib.contextmanager
    def surroundings(traced: TracedDraws | None) -> Generator[None]:
        draws = stream if traced is None else CompiledDraws(traced)
        with map_on_host(traced is not None), drawing_from(draws):
            yield

    return MapFunction(function, surroundings, sending, stream)


def with_tuple_for_list(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function return a tuple where it returned a list of tensors; a list of numbers is an array."""

    @functools.wraps(function)
    def call(*components: Any) -> Any:
        result = function(*components)
        if type(result) is list and any(not isinstance(one, _PLAIN) for one in result):
            return tuple(result)
        return result

    return call


_PLAIN = (int, float, complex, str, list)


def shuffle_order(
    seed: SupportsIndex | None, reshuffle: bool, op_name: str = "shuffle"
) -> ShuffleOrder:
    """Returns the order that an operation's seed and the global one make.

    Args:
        seed: The operation's seed, or None.
        reshuffle: Give every pass another order.
        op_name: The operation's name, for the error.

    Raises:
        TypeError: `seed` is neither an integer nor None.
    """
    return ShuffleOrder(op_entropy(seed, op_name), reshuffle)


# A worker's copies go on counting their passes when models and functions are sent anew.
keep_on_workers(DatasetBase)
keep_on_workers(ShuffleOrder)
