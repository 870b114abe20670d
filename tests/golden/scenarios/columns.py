"""Feature columns: bucket numbers, what `input_layer` and `linear_model` compute, and the names of their variables."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario
from tests.golden.scenarios.lookups import LENGTHS

GROUP = "columns"
TEXTS = np.array([*LENGTHS[0], *LENGTHS[1], "fig", "plum", "pear", "Málaga", "漢字", "-1", "0"])
NUMBERS = np.array(
    [0, 7, 12, 123, 999, 4567, 99999, 1234567, 98765432, 2**31 - 1, -2, -98765, -(2**31)]
)
FRUIT = np.array([["fig", "pear"], ["plum", ""], ["", ""], ["sloe", "fig"]])
COLORS = np.array([["red", "", "blue"], ["red", "red", "green"], ["", "", ""], ["blue", "", ""]])
WEIGHTS = np.array([[0.5, 2.0], [1.5, 0.0], [0.0, 0.0], [-1.0, 3.0]], np.float32)
KEYS = np.array([[12, 36], [-1, 7], [36, 36], [99, -1]])
AGES = np.array([[18.0], [25.0], [24.999], [70.5]], np.float32)
FEATURES: dict[str, Any] = {
    "fruit": FRUIT,
    "one": FRUIT[:, 0],
    "color": COLORS,
    "weight": WEIGHTS,
    "key": KEYS,
    "index": np.array([[0, 2], [-1, 3], [1, 1], [2, -1]]),
    "beyond": np.array([[0, 9], [-1, 3], [-7, 1], [2, -1]]),
    "age": AGES,
    "point": np.arange(8, dtype=np.float32).reshape(4, 2),
    "year": np.array([1999, 2001, 2010, 1970]),
}
Values = Callable[[tuple[int, ...]], Any]


def _waves(shape: tuple[int, ...]) -> Any:
    """Values for a variable, each another one."""
    return np.sin(np.arange(np.prod(shape, dtype=int)) * 0.7 + 0.3).reshape(shape)


def _counted(shape: tuple[int, ...]) -> Any:
    """Weights that are the numbers of their buckets, from 1 on; none for a bias."""
    return 1 + np.arange(shape[0])[:, None] if len(shape) == 2 else np.zeros(shape)


def _computed(tf: Any, build: Callable[[], Any], values: Values = _waves) -> dict[str, Any]:
    """Calls a function that makes variables by name, with values for these."""
    if hasattr(tf.compat.v1, "Session"):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            found = build()
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            variables = v1.global_variables()
            for variable in variables:
                variable.load(values(tuple(variable.shape)), session)
            found = session.run(found)
    else:
        from frontends.tf.graph import Graph

        with Graph().as_default() as graph:
            build()
        variables = list(graph.store.variables.values())
        for variable in variables:
            variable.assign(np.float32(values(tuple(variable.shape))))
        with Graph(graph.store).as_default():
            found = build()
    shapes = {variable.name: list(variable.shape) for variable in variables}
    return {"result": found, "variables": dict(sorted(shapes.items()))}


def _linear(
    tf: Any,
    columns: Any,
    features: Mapping[str, Any] = FEATURES,
    values: Values = _waves,
    **kwargs: Any,
) -> Callable[[], dict[str, Any]]:
    linear_model = tf.compat.v1.feature_column.linear_model
    return lambda: _computed(
        tf, lambda: linear_model(_constants(tf, features), columns, **kwargs), values
    )


def _input(tf: Any, columns: Any) -> Callable[[], dict[str, Any]]:
    input_layer = tf.compat.v1.feature_column.input_layer
    return lambda: _computed(tf, lambda: input_layer(_constants(tf, FEATURES), columns))


def _constants(tf: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tf.constant(value) for key, value in features.items()}


def _buckets(tf: Any, column: Any, feature: Any) -> Callable[[], Any]:
    """Numbers of the buckets of a feature with one value in each row."""
    return _linear(tf, [column], {"x": feature}, _counted)


@scenario("columns.buckets", GROUP, NONE)
def buckets(s: Setting) -> Iterator[Case]:
    """Buckets of texts and integers, by their hash values and by a vocabulary."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    for count in (1, 3, 1000, 1_000_003):
        hashed = columns.categorical_column_with_hash_bucket("x", count)
        yield f"texts_{count}", _buckets(tf, hashed, TEXTS)
        hashed = columns.categorical_column_with_hash_bucket("x", count, tf.int64)
        yield f"integers_{count}", _buckets(tf, hashed, NUMBERS)

    def listed(values: Any, *args: Any, **kwargs: Any) -> Any:
        column = columns.categorical_column_with_vocabulary_list("x", *args, **kwargs)
        return _buckets(tf, column, values)

    words = ("plum", "fig", "pear", "漢字")
    yield "vocabulary", listed(TEXTS, words)
    yield "vocabulary_default", listed(TEXTS, words, default_value=2)
    yield "vocabulary_unknown", listed(TEXTS, words, num_oov_buckets=5)
    yield "numbers", listed(NUMBERS, (12, 7, -2, 99999))
    yield "numbers_default", listed(NUMBERS, (12, 7, -2, 99999), default_value=1)
    yield "numbers_unknown", listed(NUMBERS, (12, 7, -2, 99999), num_oov_buckets=5)
    yield "numbers_int32", listed(NUMBERS.astype(np.int32), (12, 7), dtype=tf.int32)

    def filed(text: str, values: Any, **kwargs: Any) -> Callable[[], Any]:
        def run() -> Any:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "words.txt")
                path.write_text(text)
                column = columns.categorical_column_with_vocabulary_file("x", str(path), **kwargs)
                return _buckets(tf, column, values)()

        return run

    text = "plum\nfig\npear\n漢字\n"
    yield "file", filed(text, TEXTS)
    yield "file_unknown", filed(text, TEXTS, num_oov_buckets=4)
    yield "file_part", filed(text, TEXTS, vocabulary_size=2, default_value=0)
    yield "file_of_numbers", filed("12\n7\n-2", NUMBERS, dtype=tf.int64, num_oov_buckets=2)


@scenario("columns.crosses", GROUP, NONE)
def crosses(s: Setting) -> Iterator[Case]:
    """Buckets of what several features say together."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    size = len(TEXTS)
    features = {
        "a": TEXTS,
        "b": np.roll(TEXTS, 3),
        "c": np.roll(TEXTS, 7),
        "n": np.resize(NUMBERS, size),
        "age": np.linspace(0, 90, size, dtype=np.float32),
        "i": np.arange(size) % 4 - 1,
    }

    def crossed(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        return _linear(tf, [columns.crossed_column(*args, **kwargs)], features, _counted)

    age = columns.bucketized_column(columns.numeric_column("age"), [18, 25, 40, 65])
    known = columns.categorical_column_with_vocabulary_list("a", ["fig", "plum"])
    index = columns.categorical_column_with_identity("i", 3)
    yield "two", crossed(["a", "b"], 1_000_003)
    yield "two_in_few", crossed(["a", "b"], 7)
    yield "two_with_key", crossed(["a", "b"], 1000, hash_key=99)
    yield "three", crossed(["a", "b", "c"], 1_000_003)
    yield "numbers", crossed(["n", "a"], 1_000_003)
    yield "with_column_last", crossed(["a", age], 1_000_003)
    yield "with_column_first", crossed([age, "a"], 1_000_003)
    yield "vocabulary", crossed([known, age], 1_000_003)
    yield "identity", crossed(["b", index, "c"], 1_000_003)
    inner = columns.crossed_column(["b", age], 10)
    yield "nested", crossed(["a", inner], 1_000_003)
    for combiner in ("sum", "mean", "sqrtn"):
        many = columns.crossed_column(["fruit", "color"], 50)
        yield f"multivalent/{combiner}", _linear(tf, [many], sparse_combiner=combiner)
    listed = columns.categorical_column_with_vocabulary_list("fruit", ["fig", "plum"])
    many = columns.crossed_column([listed, "color"], 50)
    yield "multivalent_vocabulary", _linear(tf, [many])


@scenario("columns.input_layer", GROUP, NONE)
def input_layer(s: Setting) -> Iterator[Case]:
    """What columns give a network, and the names of its variables."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    age, point = columns.numeric_column("age"), columns.numeric_column("point", shape=[2])
    aged = columns.bucketized_column(age, [18, 25.0, 65])
    pointed = columns.bucketized_column(point, [1, 4])
    fruit = columns.categorical_column_with_vocabulary_list("fruit", ["fig", "plum", "pear"])
    key = columns.categorical_column_with_vocabulary_list("key", [7, 36], num_oov_buckets=1)
    index = columns.categorical_column_with_identity("index", 4)
    default = columns.categorical_column_with_identity("beyond", 4, default_value=3)
    weighted = columns.weighted_categorical_column(index, "weight")
    spaced = columns.categorical_column_with_hash_bucket("one", 5)
    embed = columns.embedding_column
    yield "numeric", _input(tf, [point, age])
    scaled = columns.numeric_column("age", normalizer_fn=lambda x: (x - 30.0) / 10.0)
    yield "normalized", _input(tf, scaled)
    yield "integers", _input(tf, [columns.numeric_column("year", dtype=tf.int64)])
    yield "bucketized", _input(tf, [aged, pointed])
    for name, column in {"fruit": fruit, "key": key, "index": index, "default": default}.items():
        yield f"indicator/{name}", _input(tf, [columns.indicator_column(column)])
        yield f"embedding/{name}", _input(tf, [embed(column, 3)])
    yield "indicator/bucketized", _input(tf, [columns.indicator_column(pointed)])
    yield "embedding/bucketized", _input(tf, [embed(pointed, 2)])
    yield "embedding/spaced", _input(tf, [embed(spaced, 2)])
    many = columns.crossed_column(["fruit", aged], 9)
    yield "indicator/crossed", _input(tf, [columns.indicator_column(many)])
    for combiner in ("sum", "mean", "sqrtn"):
        yield f"combiner/{combiner}", _input(tf, [embed(key, 3, combiner)])
    heavy = dict(FEATURES, weight=np.where(FEATURES["index"] < 0, 0, np.abs(WEIGHTS) + 0.25))

    def with_weights(column: Any) -> Callable[[], Any]:
        layer = tf.compat.v1.feature_column.input_layer
        features = dict(heavy, weight=heavy["weight"].astype(np.float32))
        return lambda: _computed(tf, lambda: layer(_constants(tf, features), [column]))

    for combiner in ("sum", "mean", "sqrtn"):
        yield f"weighted/{combiner}", with_weights(embed(weighted, 3, combiner))
    yield "weighted/indicator", with_weights(columns.indicator_column(weighted))
    yield "max_norm", _input(tf, [embed(key, 3, max_norm=0.7)])
    other = columns.categorical_column_with_vocabulary_list("color", ["red", "blue", "green"])

    def shared(**kwargs: Any) -> Callable[[], Any]:
        def build() -> Any:  # TensorFlow makes these columns in graphs only
            both = columns.shared_embedding_columns([fruit, other], 2, **kwargs)
            return columns.input_layer(_constants(tf, FEATURES), both)

        return lambda: _computed(tf, build)

    yield "shared", shared(max_norm=0.9)
    yield "shared_named", shared(shared_embedding_collection_name="both")
    yield (
        "several",
        _input(tf, [embed(fruit, 2), age, embed(index, 2), columns.indicator_column(key)]),
    )

    def twice() -> Any:
        features = _constants(tf, FEATURES)
        return [columns.input_layer(features, [embed(fruit, 2)]) for _ in range(2)]

    yield "twice", lambda: _computed(tf, twice)


@scenario("columns.linear_model", GROUP, NONE)
def linear_model(s: Setting) -> Iterator[Case]:
    """What linear models compute of columns, and the names of their variables."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    age, point = columns.numeric_column("age"), columns.numeric_column("point", shape=[2])
    aged = columns.bucketized_column(age, [18, 25.0, 65])
    fruit = columns.categorical_column_with_vocabulary_list("fruit", ["fig", "plum", "pear"])
    color = columns.categorical_column_with_hash_bucket("color", 5)
    index = columns.categorical_column_with_identity("index", 4)
    spaced = columns.categorical_column_with_hash_bucket("one", 5)
    embedded = columns.embedding_column(index, 3)
    every = [point, age, aged, fruit, color, spaced, columns.crossed_column(["fruit", aged], 9)]
    yield "all", _linear(tf, every)
    yield "units", _linear(tf, every, units=3)
    for combiner in ("mean", "sqrtn"):
        yield f"combiner/{combiner}", _linear(tf, [fruit, color], sparse_combiner=combiner)
    yield "embedding", _linear(tf, [embedded])
    yield "indicator", _linear(tf, [columns.indicator_column(fruit)], units=2)
    features = dict(FEATURES, weight=np.where(FEATURES["index"] < 0, 0, WEIGHTS * 2 + 5))
    features["weight"] = features["weight"].astype(np.float32)
    weighted = columns.weighted_categorical_column(index, "weight")
    for combiner in ("sum", "mean", "sqrtn"):
        yield f"weighted/{combiner}", _linear(tf, [weighted], features, sparse_combiner=combiner)

    def in_scope() -> Any:
        features = _constants(tf, FEATURES)
        with tf.compat.v1.variable_scope("linear"):
            return tf.compat.v1.feature_column.linear_model(features, [age, fruit])

    yield "in_scope", lambda: _computed(tf, in_scope)


@scenario("columns.errors", GROUP, NONE)
def errors(s: Setting) -> Iterator[Case]:
    """What is refused."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    age = columns.numeric_column("age")
    fruit = columns.categorical_column_with_hash_bucket("fruit", 5)
    point = columns.numeric_column("point", shape=[2, 1])
    listed = columns.categorical_column_with_vocabulary_list
    identity = columns.categorical_column_with_identity
    yield "numeric_key", lambda: columns.numeric_column(3)
    yield "numeric_shape", lambda: columns.numeric_column("x", shape=[0])
    yield "numeric_dtype", lambda: columns.numeric_column("x", dtype=tf.string)
    yield "numeric_default", lambda: columns.numeric_column("x", default_value=[1.0, 2.0])
    yield "numeric_default_type", lambda: columns.numeric_column("x", default_value="a")
    yield "numeric_normalizer", lambda: columns.numeric_column("x", normalizer_fn=3)
    yield "bucketized_source", lambda: columns.bucketized_column(fruit, [1.0])
    yield "bucketized_rank", lambda: columns.bucketized_column(point, [1.0])
    yield "bucketized_order", lambda: columns.bucketized_column(age, [2.0, 1.0])
    yield "bucketized_empty", lambda: columns.bucketized_column(age, [])
    yield "hash_size", lambda: columns.categorical_column_with_hash_bucket("x", 0)
    yield "hash_dtype", lambda: columns.categorical_column_with_hash_bucket("x", 5, tf.float32)
    yield "list_empty", lambda: listed("x", [])
    yield "list_repeated", lambda: listed("x", ["a", "a"])
    yield "list_both", lambda: listed("x", ["a"], default_value=0, num_oov_buckets=1)
    yield "list_negative", lambda: listed("x", ["a"], num_oov_buckets=-1)
    yield "list_float", lambda: listed("x", [1.5])
    yield "identity_none", lambda: identity("x", 0)
    yield "identity_default", lambda: identity("x", 3, default_value=3)
    yield "indicator_dense", lambda: columns.indicator_column(age)
    yield "embedding_dimension", lambda: columns.embedding_column(fruit, 0)
    yield "embedding_initializer", lambda: columns.embedding_column(fruit, 2, initializer="a")
    yield "crossed_one", lambda: columns.crossed_column(["a"], 5)
    yield "crossed_size", lambda: columns.crossed_column(["a", "b"], 0)
    yield "crossed_hashed", lambda: columns.crossed_column(["a", fruit], 5)
    yield "crossed_dense", lambda: columns.crossed_column(["a", age], 5)
    yield "weighted_dtype", lambda: columns.weighted_categorical_column(fruit, "w", tf.string)
    yield "input/categorical", _input(tf, [fruit])
    yield "input/none", _input(tf, [])
    yield "input/no_column", _input(tf, ["age"])
    yield "input/repeated", _input(tf, [age, columns.numeric_column("age")])
    yield "input/dict", _input(tf, {"age": age})
    yield "input/missing", _input(tf, [columns.numeric_column("height")])
    yield "input/texts_as_numbers", _input(tf, [columns.numeric_column("fruit")])
    wrong = columns.categorical_column_with_hash_bucket("key", 5)
    yield "input/numbers_as_texts", _input(tf, [columns.indicator_column(wrong)])
    wrong = listed("fruit", [1, 2])
    yield "input/texts_in_numbers", _input(tf, [columns.indicator_column(wrong)])
    wrong = columns.numeric_column("age", shape=[3])
    yield "input/shape", _input(tf, [wrong])


@scenario("columns.parse_spec", GROUP, NONE)
def parse_spec(s: Setting) -> Iterator[Case]:
    """What is read from examples."""
    tf, columns = s.tf, s.tf.compat.v1.feature_column
    age = columns.numeric_column("age", shape=[2], default_value=1.5)
    fruit = columns.categorical_column_with_vocabulary_list("fruit", ["fig"])
    key = columns.categorical_column_with_hash_bucket("key", 5, tf.int64)
    several = [
        columns.embedding_column(fruit, 2),
        columns.crossed_column(["color", fruit], 9),
        columns.bucketized_column(age, [1.0]),
        columns.weighted_categorical_column(key, "weight"),
    ]

    def shown() -> Any:
        spec = columns.make_parse_example_spec(several)
        shapes = {key: list(one.shape) for key, one in spec.items() if hasattr(one, "shape")}
        types = {key: f"{type(one).__name__} {one.dtype.name}" for key, one in sorted(spec.items())}
        return [types, shapes, spec["age"].default_value]

    yield "several", shown
    other = columns.numeric_column("age")
    yield "other_dtype", lambda: columns.make_parse_example_spec([age, other])
    yield "names", lambda: [one.name for one in several]
