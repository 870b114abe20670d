"""Every kind of source gives the same rows."""

import dataclasses
import pathlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

import grain
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import tensorflow_datasets as tfds
from jax.sharding import Mesh
from tensorflow_datasets.core import decode
from tensorflow_datasets.core.data_sources import base as tfds_base
from tensorflow_datasets.core.data_sources import python as tfds_python

import spmd
from spmd.input import Source, register_source, require_batch_size
from spmd.input.sources import registry

MeshOf = Callable[[int], Mesh]
ROWS: list[Any] = [{"x": np.full((2,), n, np.float32), "y": n} for n in range(10)]


def batches_of(size: int = 4) -> Iterator[dict[str, np.ndarray]]:
    for start in range(0, len(ROWS), size):
        rows = ROWS[start : start + size]
        yield {"x": np.stack([row["x"] for row in rows]), "y": np.array([row["y"] for row in rows])}


def labels(batches: Any) -> list[list[int]]:
    """Reads a pass: the labels of each batch; checks that the images go with them."""
    read: list[list[int]] = []
    for batch in batches:
        ys = np.concatenate(list(batch["y"]))
        xs = np.concatenate(list(batch["x"]))
        np.testing.assert_array_equal(xs, np.repeat(ys[:, None], 2, axis=1))
        read.append(ys.tolist())
    return read


EXPECTED = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def check(source: Any, mesh: Mesh, length: int | None = 3, **options: Any) -> None:
    """Distributes a source of the ten rows, in batches of four, and reads two passes."""
    batches = spmd.distribute(source, mesh, **options)
    if length is None:
        with pytest.raises(TypeError):
            len(batches)
    else:
        assert len(batches) == length
    assert [labels(batches) for _ in range(2)] == [EXPECTED, EXPECTED]
    assert (batches.batch_size, batches.rows_per_replica) == (4, 2)


@pytest.mark.parametrize("module", [np, jnp])
def test_arrays(mesh_of: MeshOf, module: Any) -> None:
    data = {
        "x": module.asarray(np.stack([row["x"] for row in ROWS])),
        "y": module.asarray(np.array([row["y"] for row in ROWS])),
    }
    check(data, mesh_of(2), batch_size=4)


def test_a_list_is_arrays_with_a_batch_size_and_batches_without(mesh_of: MeshOf) -> None:
    arrays = [np.arange(4), np.arange(4)]
    (batch,) = spmd.distribute(arrays, mesh_of(2), batch_size=4)
    assert [leaf.mask.counts for leaf in batch] == [(2, 2), (2, 2)]
    assert len(list(spmd.distribute(arrays, mesh_of(2)))) == 2


def test_grain_map_dataset(mesh_of: MeshOf) -> None:
    rows = grain.MapDataset.source(ROWS)
    check(rows, mesh_of(2), batch_size=4)
    check(rows.batch(4), mesh_of(2))
    assert len(spmd.distribute(rows, mesh_of(2), batch_size=4, drop_remainder=True)) == 2


def test_grain_iter_dataset(mesh_of: MeshOf) -> None:
    rows = grain.MapDataset.source(ROWS).to_iter_dataset()
    check(rows, mesh_of(2), length=None, batch_size=4)
    check(rows.batch(4), mesh_of(2), length=None)


def test_grain_data_loader(mesh_of: MeshOf) -> None:
    def loader(*operations: Any) -> grain.DataLoader:
        sampler = grain.samplers.IndexSampler(len(ROWS), grain.sharding.NoSharding(), num_epochs=1)
        return grain.DataLoader(
            data_source=ROWS,  # pyright: ignore[reportArgumentType] (a list is one)
            sampler=sampler,
            operations=operations,
            worker_count=0,
        )

    check(loader(), mesh_of(2), length=None, batch_size=4)
    check(loader(grain.transforms.Batch(4)), mesh_of(2), length=None)


def test_grain_tells_no_length_that_it_does_not_know(mesh_of: MeshOf) -> None:
    rows = grain.MapDataset.source(ROWS)
    endless, filtered = rows.repeat(), rows.filter(lambda row: row["y"] % 2 == 0)
    for source in (endless, filtered):
        with pytest.raises(TypeError, match="not known"):
            len(spmd.distribute(source, mesh_of(2), batch_size=4))
    with pytest.raises(TypeError, match="not known"):
        len(spmd.distribute(endless.batch(4), mesh_of(2)))
    assert labels(spmd.distribute(filtered, mesh_of(2), batch_size=4)) == [[0, 2, 4, 6], [8]]
    with iter(spmd.distribute(endless, mesh_of(2), batch_size=4)) as batches:
        assert labels(next(batches) for _ in range(4))[2] == [8, 9, 0, 1]


def test_tfds_python_source(mesh_of: MeshOf) -> None:
    source = tfds_python.PythonDataSource(len(ROWS), ROWS.__getitem__)
    check(source, mesh_of(2), batch_size=4)


def test_tfds_source_is_read_many_rows_at_once(mesh_of: MeshOf) -> None:
    # TFDS's own base class over a stand-in for array_record's reader: no prepared data set is needed.
    asked: list[list[int]] = []

    class Reader:
        def __len__(self) -> int:
            return len(ROWS)

        def __getitem__(self, key: SupportsIndex) -> Any:
            raise AssertionError("one by one")

        def __getitems__(self, keys: Any) -> list[Any]:
            asked.append(list(keys))
            return [ROWS[key] for key in keys]

    @dataclasses.dataclass
    class DataSource(tfds_base.BaseDataSource):
        def __post_init__(self) -> None:
            self.data_source = Reader()

    raw = decode.DeserializeMethod.RAW_BYTES
    source = DataSource(None, deserialize_method=raw)  # pyright: ignore[reportArgumentType]
    check(source, mesh_of(2), batch_size=4)
    assert asked == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] * 2


def test_tfds_data_source(mesh_of: MeshOf) -> None:
    data = pathlib.Path(__file__).parents[4] / "examples" / "data"
    source: Any = tfds.data_source("mnist", split="test", data_dir=data, download=False)
    batches = spmd.distribute(source, mesh_of(2), batch_size=384)
    read = list(batches)
    assert len(read) == len(batches) == -(-len(source) // 384)
    assert read[0]["image"].shape == (192, 28, 28, 1)
    for name in ("image", "label"):
        rows = np.concatenate([np.asarray(block) for batch in read for block in batch[name]])
        np.testing.assert_array_equal(rows, np.stack([row[name] for row in source]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"x": np.ones(2)}, {"x": np.ones(3)}], r"rows of batch\['x'\].*\(2,\), \(3,\)"),
        ([{"x": 1}, {"y": 1}], r"expected PyTreeDef\(\{'x': \*\}\)"),
        ([{"key": {1}}, {"key": {2}}], r"batch\['key'\] has elements of type object"),
    ],
)
def test_rows_that_do_not_stack_are_errors(mesh_of: MeshOf, rows: list[Any], message: str) -> None:
    source = tfds_python.PythonDataSource(len(rows), rows.__getitem__)
    with pytest.raises(spmd.errors.BatchError, match=message):
        list(spmd.distribute(source, mesh_of(2), batch_size=2))


def test_keras_py_dataset(mesh_of: MeshOf) -> None:
    calls: list[str] = []

    class Data(keras.utils.PyDataset):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            return list(batches_of())[index]

        def on_epoch_begin(self) -> None:
            calls.append("begin")

        def on_epoch_end(self) -> None:
            calls.append("end")

    check(Data(), mesh_of(2))
    assert calls == ["begin", "end"] * 2
    with pytest.raises(
        spmd.errors.BatchError, match="A Keras PyDataset is a source of whole batches"
    ):
        spmd.distribute(Data(), mesh_of(2), batch_size=4)


def test_an_endless_keras_py_dataset(mesh_of: MeshOf) -> None:
    class Data(keras.utils.PyDataset):
        @property
        def num_batches(self) -> None:
            return None

        def __getitem__(self, index: int) -> Any:
            return np.full(4, index)

    source = spmd.distribute(Data(), mesh_of(2))
    with pytest.raises(TypeError, match="not known"):
        len(source)
    with iter(source) as batches:
        assert [next(batches).array[0].item() for _ in range(5)] == [0, 1, 2, 3, 4]


class StandInForTensorShape(tuple[int | None, ...]):
    rank = property(len)


class StandInForTfDataset:
    """What is used of `tf.data.Dataset`, which needs TensorFlow, an optional library."""

    def __init__(self, rows: int | None) -> None:
        shapes = {"x": (rows, 2), "y": (rows,)}
        self.element_spec = {
            key: types.SimpleNamespace(shape=StandInForTensorShape(shape))
            for key, shape in shapes.items()
        }

    def __len__(self) -> int:
        return 3

    def as_numpy_iterator(self) -> Iterator[Any]:
        return batches_of()


@pytest.mark.parametrize("rows", [4, None])
def test_tf_data(mesh_of: MeshOf, monkeypatch: pytest.MonkeyPatch, rows: int | None) -> None:
    tensorflow = types.SimpleNamespace(data=types.SimpleNamespace(Dataset=StandInForTfDataset))
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    source = StandInForTfDataset(rows)
    assert spmd.distribute(source, mesh_of(2)).batch_size == rows
    check(source, mesh_of(2))
    with pytest.raises(spmd.errors.BatchError, match=r"with \.batch\(4\)"):
        spmd.distribute(source, mesh_of(2), batch_size=4)


def test_an_iterable_may_tell_the_rows_of_a_full_batch(mesh_of: MeshOf) -> None:
    class Batches:
        full_batch_rows = 8

        def __iter__(self) -> Iterator[Any]:
            return iter([np.arange(5)])

    batches = spmd.distribute(Batches(), mesh_of(2))
    assert batches.batch_size == 8
    assert [batch.shape for batch in batches] == [(4,)]


class Squares:
    """A data source of a kind that nobody knows."""


class SquaresSource(Source):
    def __init__(self, squares: Squares, batch_size: int | None) -> None:
        self.full_batch_rows = require_batch_size(batch_size, "Squares")

    def batches(self) -> Iterator[np.ndarray]:
        return iter([np.arange(self.full_batch_rows) ** 2])


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KINDS", list(registry._KINDS))


@pytest.mark.parametrize("kind", [Squares, lambda source, batch_size: type(source) is Squares])
def test_a_kind_can_be_added(mesh_of: MeshOf, table: None, kind: Any) -> None:
    with pytest.raises(spmd.errors.BatchError, match="register_source adds a kind"):
        spmd.distribute(Squares(), mesh_of(2), batch_size=4)
    register_source(kind, SquaresSource)
    (batch,) = spmd.distribute(Squares(), mesh_of(2), batch_size=4)
    assert batch.array.tolist() == [0, 1, 4, 9]


def test_kinds_that_were_added_are_asked_first(mesh_of: MeshOf, table: None) -> None:
    register_source(np.ndarray, lambda source, batch_size: SquaresSource(Squares(), 3))
    assert spmd.distribute(np.zeros(9), mesh_of(2), batch_size=9).batch_size == 3


def test_a_source_is_taken_as_it_is(mesh_of: MeshOf) -> None:
    source = SquaresSource(Squares(), 4)
    assert spmd.distribute(source, mesh_of(2)).batch_size == 4
    with pytest.raises(
        spmd.errors.BatchError, match="A Source, like this SquaresSource, is a source of whole"
    ):
        spmd.distribute(source, mesh_of(2), batch_size=4)


def test_generator_functions_are_called_for_every_pass(mesh_of: MeshOf) -> None:
    check(batches_of, mesh_of(2), length=None)
    check(lambda: list(batches_of()), mesh_of(2), length=None)


def test_a_function_that_returns_no_iterator_is_an_error(mesh_of: MeshOf) -> None:
    with pytest.raises(
        spmd.errors.BatchError, match="must return an iterator over batches, but returned 3"
    ):
        list(spmd.distribute(lambda: 3, mesh_of(2)))


def test_an_iterator_is_good_for_one_pass(mesh_of: MeshOf) -> None:
    batches = spmd.distribute(batches_of(), mesh_of(2))
    assert labels(batches) == EXPECTED
    with pytest.raises(spmd.errors.BatchError, match="without the brackets"):
        list(batches)


def test_tensors_of_other_libraries_are_read_as_arrays(mesh_of: MeshOf) -> None:
    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.arange(4, dtype=np.int32)

    (batch,) = spmd.distribute([{"x": Tensor()}], mesh_of(2))
    assert batch["x"].array.tolist() == [0, 1, 2, 3]
