"""Tables on the host (`tf.lookup`), sets and sparse tensors."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario
from tests.golden.scenarios.texts import shown, table

GROUP = "tables"
LINES = "fig\tred\t5\nplum\tblue\t7\npear\tgreen\t9\n"


def _file(content: str = LINES) -> str:
    path = Path(tempfile.mkdtemp()) / "words"
    path.write_text(content)
    return str(path)


@scenario("tables.lookup", GROUP, NONE)
def lookup(s: Setting) -> Iterator[Case]:
    """Tables."""
    tf, lk = s.tf, s.tf.lookup
    words = lambda: lk.KeyValueTensorInitializer(["fig", "plum", "pear"], np.array([10, 20, 30]))  # noqa: E731
    numbers = lambda: lk.KeyValueTensorInitializer(np.array([5, 1, 9]), np.array([50, 10, 90]))  # noqa: E731
    static = lambda made, default: lk.StaticHashTable(made, default)  # noqa: E731
    text, whole = tf.string, tf.int64
    line, number = lk.TextFileIndex.WHOLE_LINE, lk.TextFileIndex.LINE_NUMBER
    file = lk.TextFileInitializer

    def mutable(**kwargs: Any) -> Any:
        made = lk.experimental.MutableHashTable(text, whole, -1, **kwargs)
        made.insert(tf.constant(["a", "b"]), tf.constant([1, 2], whole))
        return made

    def dense() -> Any:
        made = lk.experimental.DenseHashTable(whole, whole, -1, empty_key=-1, deleted_key=-2)
        made.insert(tf.constant([3, 4], whole), tf.constant([30, 40], whole))
        return made

    def changed() -> Any:
        made = mutable()
        made.insert(tf.constant(["b", "c"]), tf.constant([9, 3], whole))
        made.remove(tf.constant(["a", "zzz"]))
        return [made.lookup(tf.constant(["a", "b", "c"])), made.size()]

    def vectors() -> Any:
        made = lk.experimental.MutableHashTable(text, tf.float32, [0.0, 0.5])
        made.insert(tf.constant(["a"]), [[1.0, 2.0]])
        return made.lookup(tf.constant(["a", "b"]))

    def exported(made: Any) -> Any:
        keys, values = made.export()
        return sorted(zip(np.asarray(keys).tolist(), np.asarray(values).tolist(), strict=True))

    def erased() -> Any:
        made = dense()
        made.erase(tf.constant([3], whole))
        return made.lookup(tf.constant([3, 4], whole))

    def in_function() -> Any:
        made = static(numbers(), -1)
        return tf.function(lambda x: made.lookup(x) * 2)(tf.constant([1, 7, 9], whole))

    vocabulary = lambda oov=2, made=words: lk.StaticVocabularyTable(made(), oov)  # noqa: E731
    indexed = lambda: lk.KeyValueTensorInitializer(["fig", "plum"], np.array([0, 1]))  # noqa: E731
    of = tf.data.Dataset.from_tensor_slices
    yield from table(
        {
            "static": lambda: static(words(), -1).lookup(tf.constant(["plum", "x", "fig"])),
            "static/scalar": lambda: static(words(), -1).lookup(tf.constant("plum")),
            "static/matrix": lambda: static(words(), -1).lookup(tf.constant([["plum"], ["x"]])),
            "static/item": lambda: static(words(), -1)[tf.constant(["plum"])],
            "static/dtype": lambda: static(words(), -1).lookup(tf.constant(["plum"])).dtype.name,
            "static/size": lambda: static(words(), -1).size(),
            "static/export": lambda: exported(static(words(), -1)),
            "static/ragged": lambda: static(words(), -1).lookup(
                tf.ragged.constant([["fig"], [], ["x", "pear"]])
            ),
            "static/sparse": lambda: static(words(), -1).lookup(
                tf.SparseTensor([[0, 1]], tf.constant(["fig"]), [1, 2])
            ),
            "static/numbers": lambda: static(numbers(), -1).lookup(tf.constant([1, 2, 9], whole)),
            "static/int32": lambda: static(
                lk.KeyValueTensorInitializer(np.array([1], np.int32), np.array([1.5], np.float32)),
                0.0,
            ).lookup(tf.constant([1, 2])),
            "static/to_text": lambda: static(
                lk.KeyValueTensorInitializer(np.array([0, 1]), ["a", "b"]), "?"
            ).lookup(tf.constant([1, 5], whole)),
            "static/other_key": lambda: static(words(), -1).lookup(tf.constant([1.5])),
            "static/twice": lambda: static(
                lk.KeyValueTensorInitializer(["a", "a"], np.array([1, 2])), -1
            ).lookup(tf.constant(["a"])),
            "static/same_twice": lambda: static(
                lk.KeyValueTensorInitializer(["a", "a"], np.array([1, 1])), -1
            ).size(),
            "static/counts": lambda: (
                lk.KeyValueTensorInitializer(["a"], np.array([1, 2]))
                and static(lk.KeyValueTensorInitializer(["a"], np.array([1, 2])), -1)
            ),
            "static/dtypes": lambda: static(
                lk.KeyValueTensorInitializer(["a"], [1], key_dtype=text, value_dtype=whole), -1
            ).lookup(tf.constant(["a"])),
            "static/in_function": in_function,
            "static/map": lambda: (lambda t: list(of(["fig", "x", "pear"]).map(t.lookup).batch(3)))(
                static(words(), -1)
            ),
            "file/line": lambda: static(
                file(_file("a\nb\nc\n"), text, line, whole, number), -1
            ).lookup(tf.constant(["c", "x"])),
            "file/no_end": lambda: static(
                file(_file("a\nb"), text, line, whole, number), -1
            ).lookup(tf.constant(["b"])),
            "file/back": lambda: static(
                file(_file("a\nb\n"), whole, number, text, line), "?"
            ).lookup(tf.constant([1, 7], whole)),
            "file/columns": lambda: static(file(_file(), text, 0, whole, 2), -1).lookup(
                tf.constant(["plum"])
            ),
            "file/columns_text": lambda: static(file(_file(), text, 1, text, 0), "?").lookup(
                tf.constant(["blue", "x"])
            ),
            "file/delimiter": lambda: static(
                file(_file("a,1\nb,2\n"), text, 0, whole, 1, delimiter=","), -1
            ).lookup(tf.constant(["b"])),
            "file/size": lambda: static(
                file(_file("a\nb\nc\n"), text, line, whole, number, vocab_size=2), -1
            ).lookup(tf.constant(["b", "c"])),
            "file/size_large": lambda: static(
                file(_file("a\n"), text, line, whole, number, vocab_size=2), -1
            ).lookup(tf.constant(["a"])),
            "file/offset": lambda: static(
                file(_file("a\nb\n"), text, line, whole, number, value_index_offset=5), -1
            ).lookup(tf.constant(["b"])),
            "file/none": lambda: static(file("/none/words", text, line, whole, number), -1).lookup(
                tf.constant(["b"])
            ),
            "file/no_number": lambda: static(file(_file(), text, 0, whole, 1), -1).lookup(
                tf.constant(["fig"])
            ),
            "file/no_column": lambda: static(file(_file(), text, 0, whole, 5), -1).lookup(
                tf.constant(["fig"])
            ),
            "file/wrong_dtype": lambda: file(_file(), tf.float32, line, whole, number),
            "vocabulary": lambda: vocabulary(made=indexed).lookup(
                tf.constant(["fig", "plum", "a", "b", "c", "d"])
            ),
            "vocabulary/one": lambda: vocabulary(1, indexed).lookup(tf.constant(["fig", "x"])),
            "vocabulary/size": lambda: vocabulary(3, indexed).size(),
            "vocabulary/none": lambda: vocabulary(0, indexed),
            "vocabulary/buckets_alone": lambda: lk.StaticVocabularyTable(None, 7).lookup(
                tf.constant(["a", "b"])
            ),
            "vocabulary/numbers": lambda: lk.StaticVocabularyTable(
                lk.KeyValueTensorInitializer(np.array([5, 9]), np.array([0, 1])),
                4,
                lookup_key_dtype=whole,
            ).lookup(tf.constant([5, 9, 7, 8, -3], whole)),
            "vocabulary/reals": lambda: lk.StaticVocabularyTable(
                lk.KeyValueTensorInitializer(["a"], np.array([1.0])), 4
            ),
            "vocabulary/ragged": lambda: vocabulary(made=indexed).lookup(
                tf.ragged.constant([["fig"], ["q", "plum"]])
            ),
            "mutable": lambda: mutable().lookup(tf.constant(["b", "x"])),
            "mutable/changed": changed,
            "mutable/export": lambda: exported(mutable()),
            "mutable/vectors": vectors,
            "mutable/dynamic": lambda: mutable().lookup(
                tf.constant(["b", "x"]), dynamic_default_values=tf.constant([7, 8], whole)
            ),
            "mutable/shape": lambda: mutable().insert(
                tf.constant(["a"]), tf.constant([1, 2], whole)
            ),
            "mutable/other_key": lambda: mutable().lookup(tf.constant([1.5])),
            "dense": lambda: dense().lookup(tf.constant([3, 5], whole)),
            "dense/erased": erased,
            "dense/size": lambda: dense().size(),
            "dense/reserved": lambda: dense().lookup(tf.constant([-1], whole)),
            "dense/same_keys": lambda: lk.experimental.DenseHashTable(
                whole, whole, -1, empty_key=-1, deleted_key=-1
            ),
            "v1/static": lambda: tf.compat.v1.lookup.StaticHashTable(words(), -1).lookup(
                tf.constant(["fig"])
            ),
        }
    )


@scenario("tables.sets", GROUP, NONE)
def sets(s: Setting) -> Iterator[Case]:
    """Sets, and what is different in vectors."""
    tf = s.tf
    a, b = np.array([[1, 2, 2], [3, 4, 5]]), np.array([[2, 3], [5, 5]])
    sparse = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], np.array([3, 1, 7]), [3, 3])
    other = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], np.array([1, 5, 7]), [3, 1])
    words = np.array([["a", "b"], ["c", "c"]], object)
    for name in ("intersection", "union", "difference"):
        function = getattr(tf.sets, name)
        yield from table(
            {
                f"{name}/dense": lambda f=function: f(a, b),
                f"{name}/sparse": lambda f=function: f(sparse, other),
                f"{name}/mixed": lambda f=function: f(np.array([[1, 3], [5, 6], [0, 7]]), other),
                f"{name}/texts": lambda f=function: f(
                    words, np.array([["b", "x"], ["c", "d"]], object)
                ),
                f"{name}/shapes": lambda f=function: f(a, np.array([[1]])),
            }
        )
    yield from table(
        {
            "difference/reversed": lambda: tf.sets.difference(a, b, aminusb=False),
            "size": lambda: tf.sets.size(sparse),
            "size/dense": lambda: tf.sets.size(a),
            "unique": lambda: tuple(tf.unique(tf.constant([3, 1, 3, 2]))),
            "unique/int64": lambda: tuple(tf.unique(tf.constant([3, 1, 3]), out_idx=tf.int64)),
            "unique_with_counts": lambda: tuple(
                tf.unique_with_counts(tf.constant(["b", "a", "b"]))
            ),
            "setdiff1d": lambda: tuple(tf.compat.v1.setdiff1d([1, 2, 3, 4, 5, 6], [1, 3, 5])),
            "setdiff1d/texts": lambda: tuple(
                tf.compat.v1.setdiff1d(tf.constant(["a", "b"]), tf.constant(["a"]))
            ),
        }
    )


@scenario("tables.sparse", GROUP, NONE)
def sparse_tensors(s: Setting) -> Iterator[Case]:
    """Sparse tensors."""
    tf, sp = s.tf, s.tf.sparse
    a = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], f32([1.5, -2.0, 3.0]), [3, 4])
    b = tf.SparseTensor([[0, 1], [2, 0]], f32([0.5, 4.0]), [3, 4])
    c = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], np.array([7, 2, 5], np.int32), [4, 3])
    words = tf.SparseTensor([[0, 0], [2, 1]], tf.constant(["x", "y"]), [4, 2])
    cube = tf.SparseTensor(
        [[0, 0, 1], [1, 1, 0], [1, 1, 1]], np.array([1, 2, 3], np.int32), [2, 2, 2]
    )
    dense = np.arange(12, dtype=np.float32).reshape(3, 4)
    unordered = tf.SparseTensor([[1, 0], [0, 1]], np.array([1, 2], np.int32), [2, 2])
    rows: dict[str, Callable[[], Any]] = {
        "from_dense": lambda: sp.from_dense([[0, 1], [2, 0]]),
        "from_dense/texts": lambda: sp.from_dense([["", "a"]]),
        "to_dense": lambda: sp.to_dense(a),
        "to_dense/default": lambda: sp.to_dense(a, -1.0),
        "to_dense/texts": lambda: sp.to_dense(words, "-"),
        "to_dense/unordered": lambda: sp.to_dense(unordered),
        "reorder": lambda: sp.reorder(unordered),
        "reshape": lambda: sp.reshape(a, [4, 3]),
        "reshape/-1": lambda: sp.reshape(a, [2, -1]),
        "reshape/cube": lambda: sp.reshape(cube, [-1]),
        "reshape/wrong": lambda: sp.reshape(a, [5, 3]),
        "reshape/rest": lambda: sp.reshape(a, [5, -1]),
        "transpose": lambda: sp.transpose(a),
        "transpose/perm": lambda: sp.transpose(cube, [1, 0, 2]),
        "expand_dims": lambda: sp.expand_dims(a),
        "expand_dims/0": lambda: sp.expand_dims(a, 0),
        "expand_dims/1": lambda: sp.expand_dims(a, 1),
        "expand_dims/-2": lambda: sp.expand_dims(a, -2),
        "expand_dims/out": lambda: sp.expand_dims(a, 3),
        "slice": lambda: sp.slice(a, [0, 0], [2, 3]),
        "slice/outside": lambda: sp.slice(a, [1, 1], [9, 9]),
        "split": lambda: sp.split(sp_input=a, num_split=2, axis=1),
        "split/uneven": lambda: sp.split(sp_input=a, num_split=3, axis=1),
        "split/too_many": lambda: sp.split(sp_input=a, num_split=9, axis=1),
        "concat/0": lambda: sp.concat(0, [a, b]),
        "concat/1": lambda: sp.concat(1, [a, b]),
        "concat/-1": lambda: sp.concat(-1, [a, b]),
        "concat/shapes": lambda: sp.concat(0, [a, tf.SparseTensor([[0, 0]], f32([1]), [1, 2])]),
        "concat/expanded": lambda: sp.concat(
            0, [a, tf.SparseTensor([[0, 0]], f32([1]), [1, 2])], expand_nonconcat_dims=True
        ),
        "add": lambda: sp.add(a, b),
        "add/threshold": lambda: sp.add(a, b, threshold=2.5),
        "add/cancelled": lambda: sp.add(a, tf.SparseTensor([[0, 1]], f32([-1.5]), [3, 4])),
        "add/cancelled_threshold": lambda: sp.add(
            a, tf.SparseTensor([[0, 1]], f32([-1.5]), [3, 4]), threshold=0.1
        ),
        "add/dense": lambda: sp.add(a, dense),
        "add/dense_first": lambda: sp.add(dense, a),
        "add/two_dense": lambda: sp.add(dense, dense),
        "add/shapes": lambda: sp.add(a, tf.SparseTensor([[0, 0]], f32([1]), [1, 2])),
        "maximum": lambda: sp.maximum(a, b),
        "minimum": lambda: sp.minimum(a, b),
        "retain": lambda: sp.retain(a, [True, False, True]),
        "retain/size": lambda: sp.retain(a, [True]),
        "fill_empty_rows": lambda: sp.fill_empty_rows(c, -1),
        "fill_empty_rows/texts": lambda: sp.fill_empty_rows(words, "none"),
        "reset_shape": lambda: sp.reset_shape(a),
        "reset_shape/larger": lambda: sp.reset_shape(a, [5, 6]),
        "reset_shape/smaller": lambda: sp.reset_shape(a, [2, 6]),
        "to_indicator": lambda: sp.to_indicator(c, 8),
        "to_indicator/cube": lambda: sp.to_indicator(cube, 4),
        "to_indicator/reals": lambda: sp.to_indicator(a, 4),
        "eye": lambda: sp.eye(2, 3),
        "softmax": lambda: sp.softmax(
            tf.SparseTensor([[0, 0], [0, 2], [1, 1]], f32([1, 2, 3]), [2, 3])
        ),
        "map_values": lambda: sp.map_values(tf.square, a),
        "map_values/two": lambda: sp.map_values(tf.multiply, a, a),
        "map_values/other": lambda: sp.map_values(tf.add, a, b),
        "mask": lambda: (lambda m: [m.values, m.indices])(
            sp.mask(
                tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([5, 6, 7])), [6]
            )
        ),
        "shape": lambda: a.shape.as_list(),
        "dtype": lambda: a.dtype.name,
        "times": lambda: a * dense,
        "over": lambda: a / (dense + 1),
        "cast": lambda: tf.cast(a, tf.int32),
        "tf.shape": lambda: tf.shape(a),
        "unsorted": lambda: sp.reduce_sum(unordered, 0),
        "v1/to_dense": lambda: tf.compat.v1.sparse_tensor_to_dense(a),
        "v1/sparse_to_dense": lambda: tf.compat.v1.sparse_to_dense(
            [[0, 1], [1, 2]], [2, 3], [5, 6]
        ),
        "v1/sparse_to_dense_default": lambda: tf.compat.v1.sparse_to_dense([1, 2], [4], 1, 9),
        "v1/concat": lambda: tf.compat.v1.sparse_concat(0, [a, b]),
        "v1/add": lambda: tf.compat.v1.sparse_add(a, b),
        "v1/retain": lambda: tf.compat.v1.sparse_retain(a, [True, False, True]),
        "v1/reduce_sum": lambda: tf.compat.v1.sparse_reduce_sum(
            a, reduction_axes=1, keep_dims=True
        ),
        "v1/matmul": lambda: tf.compat.v1.sparse_tensor_dense_matmul(a, dense.T),
        "v1/to_indicator": lambda: tf.compat.v1.sparse_to_indicator(c, 8),
        "v1/slice": lambda: tf.compat.v1.sparse_slice(a, [0, 0], [2, 3]),
        "v1/fill_empty_rows": lambda: tf.compat.v1.sparse_fill_empty_rows(c, 0),
    }
    for axis in (None, 0, 1, -1, [0, 1]):
        rows[f"reduce_sum/{axis}"] = lambda axis=axis: sp.reduce_sum(a, axis)
        rows[f"reduce_sum_kept/{axis}"] = lambda axis=axis: sp.reduce_sum(a, axis, keepdims=True)
        rows[f"reduce_max/{axis}"] = lambda axis=axis: sp.reduce_max(a, axis)
    yield from table(rows)


@scenario("tables.products", GROUP, NONE)
def products(s: Setting) -> Iterator[Case]:
    """Products and embeddings of sparse tensors, and their gradients."""
    tf, sp = s.tf, s.tf.sparse
    a = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], f32([1.5, -2.0, 3.0]), [3, 4])
    b = f32([[1, 2], [3, 4], [5, 6], [7, 8]])
    ids = tf.SparseTensor([[0, 0], [0, 2], [2, 0], [2, 1]], np.array([1, 3, 0, 1]), [4, 3])
    weights = tf.SparseTensor([[0, 0], [0, 2], [2, 0], [2, 1]], f32([2.0, 0.5, 1.0, 3.0]), [4, 3])
    bad_ids = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [2, 1]], np.array([1, -1, 0, 2]), [4, 3])
    bad_weights = tf.SparseTensor(
        [[0, 0], [1, 0], [2, 0], [2, 1]], f32([1.0, 1.0, -1.0, 2.0]), [4, 3]
    )
    deep = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 0, 0]], np.array([1, 3, 2]), [2, 2, 2])
    made = f32([[1, 2], [3, 4], [5, 6], [7, 8]])
    lookup, safe = tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse

    def slope(function: Callable[[Any], Any]) -> Any:
        x = tf.Variable(made)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(x) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, x))

    rows: dict[str, Callable[[], Any]] = {
        "matmul": lambda: sp.sparse_dense_matmul(a, b),
        "matmul/function": lambda: tf.function(lambda x: sp.sparse_dense_matmul(a, x))(
            tf.constant(b)
        ),
        "matmul/adjoint_a": lambda: sp.sparse_dense_matmul(a, b[:3], adjoint_a=True),
        "matmul/adjoint_b": lambda: sp.sparse_dense_matmul(a, b.T, adjoint_b=True),
        "matmul/dense_first": lambda: sp.sparse_dense_matmul(b[:3].T, a),
        "matmul/shapes": lambda: sp.sparse_dense_matmul(a, b[:3]),
        "matmul/slope": lambda: slope(lambda x: sp.sparse_dense_matmul(a, x)),
        "lookup/combiner": lambda: lookup(made, ids, None, combiner="max"),
        "lookup/dense": lambda: lookup(made, [[1.5]], None),
        "lookup/types": lambda: lookup(made, ids, [1.0]),
        "safe/deep": lambda: safe(made, deep),
        "safe/v1": lambda: tf.compat.v1.nn.safe_embedding_lookup_sparse(
            [tf.constant(made)], bad_ids
        ),
        "lookup/v1": lambda: tf.compat.v1.nn.embedding_lookup_sparse(
            tf.constant(made), ids, None, combiner="sum"
        ),
        "lookup/ragged": lambda: lookup(
            made, tf.ragged.constant([[1, 3], [0]], dtype=tf.int64), None, combiner="sum"
        ),
    }
    for how in ("sum", "mean", "sqrtn"):
        for name, weight in {"plain": None, "weighted": weights}.items():
            rows[f"lookup/{how}/{name}"] = lambda h=how, w=weight: lookup(made, ids, w, combiner=h)
            rows[f"lookup/{how}/{name}/slope"] = lambda h=how, w=weight: slope(
                lambda x: lookup(x, ids, w, combiner=h)
            )
        for name, weight in {"plain": None, "weighted": bad_weights}.items():
            for default in (None, 3):
                rows[f"safe/{how}/{name}/{default}"] = lambda h=how, w=weight, d=default: safe(
                    made, bad_ids, w, combiner=h, default_id=d
                )
        rows[f"safe/{how}/slope"] = lambda h=how: slope(lambda x: safe(x, bad_ids, combiner=h))
        rows[f"lookup/{how}/norm"] = lambda h=how: lookup(made, ids, None, combiner=h, max_norm=3.0)
    yield from table(rows)


@scenario("tables.datasets", GROUP, NONE)
def datasets(s: Setting) -> Iterator[Case]:
    """Datasets of sparse tensors."""
    tf = s.tf
    a = tf.SparseTensor([[0, 1], [1, 0], [2, 3]], np.array([1, 2, 3], np.int32), [3, 4])
    of = tf.data.Dataset.from_tensor_slices
    yield from table(
        {
            "slices": lambda: [shown(one) for one in of(a)],
            "batch": lambda: [shown(one) for one in of(a).batch(2)],
            "dense": lambda: list(of(a).batch(2).map(tf.sparse.to_dense)),
            "tensors": lambda: [shown(one) for one in tf.data.Dataset.from_tensors(a)],
        }
    )
