"""Map functions: the same results compiled or not, and how often Python runs them."""

import logging
import threading
import traceback
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data import AUTOTUNE, Dataset
from spmd.input.pipeline import map_function


def generated(n):
    return Dataset.from_generator(lambda: iter(range(n)))


def counted(function):
    """Wraps a function; `calls` grows by one with each call."""

    def call(*args):
        call.calls += 1
        return function(*args)

    call.calls = 0
    return call


@pytest.mark.parametrize(
    "build",
    [
        lambda d, f: d.map(f).batch(100),
        lambda d, f: d.shuffle(500).map(f).shard(2, 0).batch(100),
        lambda d, f: d.map(f).cache().shuffle(500).batch(100),
        lambda d, f: d.map(f).enumerate().batch(100),
        lambda d, f: d.map(f),
        lambda d, f: d.batch(100).map(f),
        lambda d, f: d.filter(lambda x: f(x) > 0).batch(100),
    ],
)
def test_a_traced_function_is_called_a_few_times_altogether(build):
    calls = []
    for n in (1000, 10_000):
        function = counted(lambda x: jnp.sin(x) + 2)
        list(build(Dataset.range(n), function))
        calls.append(function.calls)
    assert calls[0] == calls[1] <= 4


def test_a_stream_is_mapped_by_the_batch():
    function = counted(lambda x: x * 2)
    batches = list(generated(1000).map(function).map(function).batch(100))
    assert [batch.sum() for batch in batches[:2]] == [4 * 4950, 4 * 14950]
    assert function.calls <= 8


def test_the_last_batch_compiles_nothing_new():
    function = counted(lambda x: x * 2)
    list(Dataset.range(250).map(function).batch(100))
    full = counted(lambda x: x * 2)
    list(Dataset.range(300).map(full).batch(100))
    assert function.calls == full.calls


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x / 255, y + 1),
        lambda x, y: {"image": x.astype("float32") - 1.5, "label": y, "ones": [1, 1]},
        lambda x, y: x.reshape(-1)[:2] * y,
        lambda x, y: (x.mean(), 1, 2.5, True),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_equals_element_by_element(function, size):
    images = np.arange(7 * 6, dtype=np.uint8).reshape(7, 2, 3)
    dataset = Dataset.from_tensor_slices((images, np.arange(7)))

    def eagerly(x, y):
        return function(np.asarray(x), y)

    whole = list(dataset.map(function).batch(size))
    apart = list(dataset.map(eagerly).batch(size))
    assert len(whole) == len(apart)
    for a, b in zip(whole, apart, strict=True):
        jax.tree.map(np.testing.assert_allclose, a, b)
        assert jax.tree.map(lambda leaf: leaf.dtype, a) == jax.tree.map(lambda leaf: leaf.dtype, b)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x if x > 1 else -x, [0, -1, 2]),
        (lambda x: np.asarray(x) + 1, [1, 2, 3]),
        (lambda x: int(x) * 2, [0, 2, 4]),
        (lambda x: [x, x][int(x) // 2], [0, 1, 2]),
        (lambda x: f"row {x}", ["row 0", "row 1", "row 2"]),
        (lambda x: {"a": x.item()}["a"], [0, 1, 2]),
    ],
)
@pytest.mark.parametrize("source", [Dataset.range, generated])
def test_functions_that_do_not_trace_get_numpy_values(source, function, expected):
    assert list(source(3).map(function)) == expected
    assert list(source(3).map(function).batch(2).unbatch()) == expected


def test_the_log_says_why_a_function_is_not_compiled(caplog):
    def branches(x):
        return x.item() if x > 1 else -x

    with caplog.at_level(logging.DEBUG, logger=map_function.__name__):
        list(Dataset.range(3).map(branches))
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG  # absl shows those at INFO in every script
    assert "branches runs once per element" in record.getMessage()
    assert "ConcretizationTypeError" in record.getMessage()


def test_the_log_says_that_a_function_reads_texts(caplog):
    with caplog.at_level(logging.DEBUG, logger=map_function.__name__):
        list(Dataset.from_tensor_slices(["1", "2"]).map(tf.strings.length))
    (record,) = caplog.records
    assert record.getMessage().endswith("uncompiled: it reads texts, which stay on the host")


def test_a_functions_own_error_surfaces_with_its_traceback():
    def broken(x):
        return {"a": x}["b"]

    for dataset in (Dataset.range(3).map(broken), generated(3).map(broken).batch(2)):
        with pytest.raises(KeyError, match="b") as raised:
            list(dataset)
        assert any("broken" in line for line in traceback.format_tb(raised.value.__traceback__))


def test_an_error_for_one_element_surfaces_there():
    read = iter(Dataset.range(5).map(lambda x: 1 / (2 - x.item())))
    assert [next(read), next(read)] == [0.5, 1.0]
    with pytest.raises(ZeroDivisionError):
        next(read)


def test_values_may_be_overwritten():
    def zero_first(x):
        x[0] = 0
        return x

    data = np.ones((3, 2), np.float32)
    rows = Dataset.from_tensor_slices(data)
    for dataset in (rows, rows.map(lambda x: x * 1), rows.map(lambda x: x * 1).cache()):
        for _ in range(2):
            total = sum(x.sum() for x in dataset.map(zero_first))
            assert total == 3
    assert data.all()
    assert sum(x.sum() for x in generated(3).map(lambda x: np.ones(2)).cache().map(zero_first)) == 3


def test_tuples_are_spread_and_dicts_are_not():
    pairs = Dataset.zip(Dataset.range(2), Dataset.range(2))
    assert list(pairs.map(lambda a, b: a + b)) == [0, 2]
    nested = Dataset.zip(pairs, Dataset.range(2))
    assert list(nested.map(lambda ab, c: ab[0] + c)) == [0, 2]
    named = Dataset.zip({"a": Dataset.range(2)})
    assert list(named.map(lambda element: element["a"])) == [0, 1]


class TestDtypes:
    @pytest.mark.parametrize("wrap", [lambda x: x, np.asarray])
    def test_are_jaxs(self, wrap):
        dataset = Dataset.range(3).map(lambda x: (wrap(x), wrap(x) / 2, wrap(x).astype("int8")))
        assert [leaf.dtype for leaf in next(iter(dataset))] == [np.int32, np.float32, np.int8]

    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_large_integers_are_not_cut_off(self, source):
        large = source(3).map(lambda x: np.asarray(x).astype(np.int64) + 2**40)
        with pytest.raises(OverflowError, match=r"(?s)do not fit in int32.*jax_enable_x64"):
            list(large)

    def test_large_inputs_of_a_traced_function(self):
        ids = Dataset.from_tensor_slices(np.arange(3) + 2**40)
        for dataset in (ids.map(lambda x: x % 1000).batch(2), ids.batch(2).map(lambda x: x % 1000)):
            assert [x.tolist() for x in dataset] == [[776, 777], [778]]
        with pytest.raises(OverflowError):
            list(ids.map(lambda x: x).batch(2))

    def test_untouched_data_keeps_its_own(self):
        rows = Dataset.from_tensor_slices((np.ones(3), np.arange(3)))
        first = next(iter(rows.map(lambda x, i: (x, i)).batch(2)))
        assert [leaf.dtype for leaf in first] == [np.float32, np.int32]
        first = next(iter(rows.shuffle(3).repeat(2).batch(2)))
        assert [leaf.dtype for leaf in first] == [np.float64, np.int64]


def test_shapes_that_keep_changing_stop_compiling():
    function = counted(lambda x: x * 2)
    lengths = range(1, 60)
    dataset = Dataset.from_generator(lambda: (np.ones(n, np.float32) for n in lengths))
    assert [len(x) for x in dataset.map(function)] == list(lengths)
    # One call to see whether it traces, one for each program, and then one for each element.
    assert function.calls == 1 + len(lengths)


def test_images_of_any_size_are_resized_before_they_are_stacked():
    sizes = [3, 4, 3, 5]
    dataset = Dataset.from_generator(lambda: (np.ones(n, np.float32) for n in sizes))
    (batch,) = dataset.map(lambda x: x[:3] * 2).map(lambda x: x + 1).batch(4)
    np.testing.assert_array_equal(batch, np.full((4, 3), 3))


def test_elements_of_another_kind_than_the_first():
    kinds = [1, 2.5, "a", b"b"]
    dataset = Dataset.from_generator(lambda: iter(kinds)).map(lambda x: x * 2)
    assert list(dataset) == [2, 5.0, "aa", b"bb"]


def test_eager_between_traced_functions():
    dataset = generated(7).map(lambda x: x + 1).map(lambda x: x.item() * 2).map(lambda x: x + 1)
    assert [x.tolist() for x in dataset.batch(4)] == [[3, 5, 7, 9], [11, 13, 15]]


def workers():
    return [one for one in threading.enumerate() if one.name.startswith("spmd-map")]


class TestParallelCalls:
    def test_order_is_kept(self):
        barrier = threading.Barrier(2, timeout=120)

        def slow(x):
            number = x.item()  # cannot be traced
            if number < 4:
                barrier.wait()  # needs two calls at the same time
            return number

        assert list(Dataset.range(50).map(slow, num_parallel_calls=4)) == list(range(50))
        assert not workers()

    def test_batches_are_made_in_parallel(self):
        barrier = threading.Barrier(2, timeout=120)

        def slow(x):
            number = x.item()
            if number in (0, 3):
                barrier.wait()
            return number

        dataset = Dataset.range(9).map(slow, num_parallel_calls=2).batch(3)
        assert [x.tolist() for x in dataset] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]

    def test_an_abandoned_pass_ends_its_threads(self):
        read = iter(Dataset.range(50).repeat().map(lambda x: x.item(), num_parallel_calls=2))
        next(read)
        assert workers()  # a second one only if the first was still at work
        read.close()  # pyright: ignore[reportAttributeAccessIssue]
        assert not workers()

    def test_errors_surface(self):
        with pytest.raises(ZeroDivisionError):
            list(Dataset.range(9).map(lambda x: 1 // x.item(), num_parallel_calls=2))

    def test_autotune(self):
        assert list(Dataset.range(9).map(lambda x: x.item(), AUTOTUNE)) == list(range(9))


def test_many_threads_read_at_once():
    dataset = Dataset.range(400).map(lambda x: jnp.sin(x) * 0 + x).cache().batch(32)
    expected = [x.tolist() for x in Dataset.range(400).batch(32)]
    found = []
    threads = [
        threading.Thread(target=lambda: found.append([x.tolist() for x in dataset]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_a_function_that_cannot_be_traced_runs_as_python_in_a_map():
    @tf.function
    def positives(x):
        written = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            where = tf.where(x[i] > 0)
            if tf.shape(where)[0] > 0:
                written = written.write(written.size(), x[i][tf.cast(where[0][0], tf.int32)])
        return written.stack()

    rows = np.array([[[-1, 2], [-3, -4]], [[5, 6], [-7, 8]]], np.float32)
    results = [np.asarray(row) for row in tf.data.Dataset.from_tensor_slices(rows).map(positives)]
    np.testing.assert_array_equal(results[0], [2.0])
    np.testing.assert_array_equal(results[1], [5.0, 8.0])


def test_functions_run_as_python_where_a_map_runs_on_elements():
    @tf.function
    def length(text):
        return tf.strings.length(text)

    @tf.function(
        input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([None, None], tf.int64)]
    )
    def described(text, image):
        assert image.shape.as_list() == [len(text.numpy()), 2]
        return length(text), tf.shape(image), image // 2**20

    texts = ["a" * count for count in range(1, 6)]

    def elements():
        for text in texts:
            yield text, np.full((len(text), 2), 2**40)

    signature = tf.TensorSpec([], tf.string), tf.TensorSpec([None, None], tf.int64)
    dataset = tf.data.Dataset.from_generator(elements, output_signature=signature)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (described, lambda *args: described(*args)):
            found = [
                (int(count), sizes.tolist(), int(image[0, 0]))
                for count, sizes, image in dataset.map(each)
            ]
            assert found == [(n, [n, 2], 2**20) for n in range(1, 6)]
    assert [f.experimental_get_tracing_count() for f in (length, described)] == [0, 0]


def test_functions_are_part_of_a_map_that_is_traced():
    double = tf.function(lambda x: x * 2)
    assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: double(x))] == [0, 2, 4]
    assert double.experimental_get_tracing_count() == 0
