"""`from_generator`: elements as they come, or checked against what was declared."""

import collections
from types import SimpleNamespace

import numpy as np
import pytest

from frontends.tf.data import UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec

Pair = collections.namedtuple("Pair", ["a", "b"])


def dataset_of(*values, **kwargs):
    return Dataset.from_generator(lambda: iter(values), **kwargs)


def test_taken_as_they_come():
    dataset = dataset_of((1, [2.0, 3.0]), (4, [5.0, 6.0]))
    first, second = next(iter(dataset))
    assert (first, first.dtype) == (1, np.int32)
    assert second.dtype == np.float32
    assert dataset.cardinality() == UNKNOWN_CARDINALITY
    assert dataset.element_spec == (TensorSpec((), np.int32), TensorSpec((2,), np.float32))


def test_every_pass_calls_the_function():
    calls = []

    def generate():
        calls.append(1)
        yield from (1, 2)

    dataset = Dataset.from_generator(generate)
    assert list(dataset.repeat(2)) == [1, 2, 1, 2]
    assert len(calls) == 2


def test_args_are_numpy_values():
    def generate(n, scale):
        assert type(n) is np.int32
        yield from (scale * i for i in range(n))

    assert list(Dataset.from_generator(generate, args=(3, 2.0))) == [0.0, 2.0, 4.0]


def test_a_reused_buffer_is_copied():
    def generate():
        buffer = np.zeros(2)
        for i in range(3):
            buffer[:] = i
            yield buffer

    for signature in None, TensorSpec((2,), np.float64):
        dataset = Dataset.from_generator(generate, output_signature=signature)
        assert next(iter(dataset.batch(3))).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_signature_converts():
    signature = {
        "x": TensorSpec((None,), np.float32),
        "y": (TensorSpec((), np.int64), TensorSpec((), str)),
    }
    dataset = dataset_of({"x": [1, 2], "y": (np.int8(3), "label")}, output_signature=signature)
    (element,) = dataset
    assert element["x"].dtype == np.float32
    assert element["y"][0].dtype == np.int64
    assert element["y"][1] == "label"
    assert dataset.element_spec == signature


def test_namedtuples_and_foreign_specs():
    foreign = SimpleNamespace(shape=(), dtype=SimpleNamespace(as_numpy_dtype=np.float16))
    (element,) = dataset_of(Pair(1, 2), output_signature=Pair(foreign, foreign))
    assert element == Pair(1, 2)
    assert element.a.dtype == np.float16


def test_old_way_to_declare():
    dataset = dataset_of((1, [2]), output_types=(np.int64, np.float32))
    assert dataset.element_spec == (TensorSpec(None, np.int64), TensorSpec(None, np.float32))
    dataset = dataset_of(([1, 2], 3), output_types=(np.int64, np.float32), output_shapes=([2], ()))
    assert dataset.element_spec == (TensorSpec((2,), np.int64), TensorSpec((), np.float32))
    (element,) = dataset
    assert element[0].dtype == np.int64


@pytest.mark.parametrize(
    ("value", "signature", "error", "message"),
    [
        ((1, 2, 3), (TensorSpec(()), TensorSpec(())), TypeError, "structure"),
        ({"a": 1}, {"b": TensorSpec(())}, TypeError, "structure"),
        ((1, {"a": 2}), (TensorSpec(()), {"b": TensorSpec(())}), TypeError, r"for \[1\]"),
        ((1, "x"), (TensorSpec(()), TensorSpec(())), TypeError, r"float32 for \[1\], got 'x'"),
        ({"a": None}, {"a": TensorSpec((), np.int32)}, TypeError, r"int32 for \['a'\]"),
        ([1, 2], TensorSpec((3,)), ValueError, r"shape \(3,\) for the element, got \(2,\)"),
        ({"a": 1}, {"a": TensorSpec((None,))}, ValueError, r"for \['a'\], got \(\)"),
    ],
)
def test_elements_that_are_not_as_declared(value, signature, error, message):
    with pytest.raises(error, match=message):
        list(dataset_of(value, output_signature=signature))


def test_declarations_that_make_no_sense():
    with pytest.raises(TypeError, match="got both"):
        dataset_of(1, output_signature=TensorSpec(()), output_types=np.int32)
    with pytest.raises(TypeError, match="needs output_types"):
        dataset_of(1, output_shapes=())
    with pytest.raises(TypeError, match=r"(?s)must be a function, got .*lambda: iterable"):
        Dataset.from_generator([1, 2])  # pyright: ignore[reportArgumentType]


def test_the_generators_own_error_surfaces():
    def generate():
        yield 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(Dataset.from_generator(generate).map(lambda x: x).batch(2))
