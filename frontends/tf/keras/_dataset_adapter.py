"""How Keras's loops read `tf.data` datasets.

Internals of Keras that this touches: `keras.src.trainers.data_adapters`, where Keras chooses how to read its input;
tests/frontends/tf/keras/test_dataset_adapter.py runs it on every supported version.
"""

import functools
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import jax
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.data_adapters.data_adapter_utils import class_weight_to_sample_weights

from frontends.tf._typing import Nested
from frontends.tf.data.dataset import Dataset
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.feature_column import has_texts
from frontends.tf.keras._host_arguments import without_sparse
from frontends.tf.keras._text_batches import preparation, width_is_open
from spmd.input import agree_on_order
from spmd.integrations.keras import Method
from spmd.typing import Json

# Whether all workers are in a loop of Keras.
ON_ALL_WORKERS: ContextVar[bool] = ContextVar("keras_on_all_workers", default=False)


def read_datasets(
    find: Method,
    /,
    x: object,
    y: object = None,
    sample_weight: object = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    shuffle: object = False,
    class_weight: dict[int, float] | None = None,
) -> DataAdapter:
    """Wraps Keras's choice of how to read `x`: a dataset has an adapter here."""
    if isinstance(x, (Dataset, DistributedDataset)):
        make_adapter: Any = functools.partial(DatasetAdapter, x)
    else:
        make_adapter = getattr(x, "make_adapter", find)  # of a dataset that workers read elsewhere
    if make_adapter is find:
        if width_is_open() and (dataset := _of_texts(x, y, sample_weight)) is not None:
            dataset = dataset.shuffle(len(dataset)) if shuffle else dataset
            return DatasetAdapter(dataset.batch(batch_size or 32), class_weight)
        x = preparation()(without_sparse(x))
        return find(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise ValueError(
                f"`{name}` was given together with a dataset. Expected: elements of the dataset that "
                "are (x, y) or (x, y, sample_weight). Write "
                "tf.data.Dataset.from_tensor_slices((x, y)).batch(size)."
            )
    return make_adapter(class_weight)


def _of_texts(*arrays: Nested) -> Dataset | None:
    """Makes a dataset of arrays, if the first holds texts."""
    given = tuple(map(_of_inputs, (array for array in arrays if array is not None)))
    dataset = Dataset.from_tensor_slices(given)
    return dataset if has_texts(dataset) else None


def _of_inputs(arrays: Nested) -> Nested:
    """Makes a tuple of a list of arrays, of which a dataset would make one array."""
    is_list = isinstance(arrays, list) and all(getattr(one, "shape", ()) for one in arrays)
    return tuple(arrays) if is_list else arrays


class DatasetAdapter(DataAdapter):
    """Reads a dataset for Keras's loops; every epoch is a new pass.

    Attributes:
        position: what the order of the latest pass depends on.
    """

    # The rows of batches are not known before they are read.
    batch_size: Any = None
    has_partial_batch: Any = None
    partial_batch_size: Any = None

    def __init__(
        self, dataset: Dataset | DistributedDataset, class_weight: dict[int, float] | None = None
    ) -> None:
        """Makes the adapter; reads nothing.

        Args:
            dataset: yields batches.
            class_weight: of each class, if the elements have targets and no weights.
        """
        self._dataset = dataset
        self._class_weight = class_weight
        self._resume: dict[str, Any] | None = None
        self._prepare = preparation()
        self.position = self.next_position

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Iterates over the batches."""
        elements = iter(self._dataset)
        if self._resume is not None:
            elements.set_state(self._resume)
            self._resume = None
        self.position = elements.get_state()["position"]
        if ON_ALL_WORKERS.get() and isinstance(self._dataset, Dataset):  # else the engine compares
            agree_on_order("keras/order", self.position, self.num_batches)
        for element in map(self._prepare, elements):
            yield element if self._class_weight is None else self._weighted(element)

    @property
    def next_position(self) -> Json:
        """What the order of the next pass depends on, in JSON's types."""
        return self._dataset.position()

    def resume_at(self, position: Json, batches: int) -> None:
        """Makes the next pass continue an earlier one.

        Args:
            position: `position` during that pass.
            batches: how many batches it had read.
        """
        self._resume = {"position": position, "batches": batches}

    get_jax_iterator = get_numpy_iterator

    def _weighted(self, element: Nested) -> Nested:
        if not isinstance(element, tuple) or len(element) != 2:
            raise ValueError(
                "class_weight needs elements (x, y), without weights of their own, but the dataset's are "
                f"{jax.tree.map(lambda _: '*', element)}. Leave class_weight out, or the weights."
            )
        x, y = element
        return x, y, class_weight_to_sample_weights(y, self._class_weight)

    @property
    def num_batches(self) -> int | None:
        """The number of batches in a pass; None if unknown or infinite."""
        try:
            return len(self._dataset)
        except TypeError:
            return None
