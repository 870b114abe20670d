"""`tf.tpu.experimental.embedding`: configurations, and looking features up outside of a TPU."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario

GROUP = "tpu_embeddings"
ROWS = f32(np.sin(np.arange(10) * 0.9)).reshape(5, 2)


def _rows(shape: Any, dtype: Any) -> Any:
    return ROWS


@scenario("tpu_embeddings.lookup", GROUP, NONE)
def lookup(s: Setting) -> Iterator[Case]:
    tf = s.tf
    embedding = tf.tpu.experimental.embedding
    ragged = tf.ragged.constant([[1, 2], [], [4, 0, 3], [2]])
    weights = tf.ragged.constant([[0.5, 2.0], [], [1.0, -1.0, 0.25], [0.0]])
    sparse, sparse_weights = ragged.to_sparse(), weights.to_sparse()

    def found(ids: Any, weight: Any = None, combiner: str = "mean", **options: Any) -> Any:
        table = embedding.TableConfig(5, 2, initializer=_rows, combiner=combiner, name="t")
        feature = embedding.FeatureConfig(table, **options)
        made = embedding.TPUEmbeddingForServing({"a": feature}, None)
        return made({"a": ids}, None if weight is None else {"a": weight})["a"]

    yield "dense", lambda: found(tf.constant([1, 4, 0]))
    yield "dense/matrix", lambda: found(tf.constant([[1, 4], [0, 2]]))
    yield "dense/sequence", lambda: found(tf.constant([1, 4]), max_sequence_length=2)
    yield "dense/weights", lambda: found(tf.constant([1, 4]), tf.constant([1.0, 2.0]))
    for combiner in ("mean", "sum", "sqrtn"):
        yield f"ragged/{combiner}", lambda c=combiner: found(ragged, combiner=c)
        yield f"ragged/{combiner}/weights", lambda c=combiner: found(ragged, weights, c)
        yield f"sparse/{combiner}", lambda c=combiner: found(sparse, combiner=c)
        yield f"sparse/{combiner}/weights", lambda c=combiner: found(sparse, sparse_weights, c)
    full = tf.ragged.constant([[1, 2], [3], [4, 0, 3]]).to_sparse()
    yield "sparse/unchecked", lambda: found(full, validate_weights_and_indices=False)
    yield "sparse/negative", lambda: found(tf.ragged.constant([[1, -1], [-1]]).to_sparse())
    for length in (1, 2, 4):
        for name, ids in (("ragged", ragged), ("sparse", sparse)):
            yield (
                f"{name}/sequence/{length}",
                lambda i=ids, n=length: found(i, max_sequence_length=n),
            )
    for shape in ([2, 2], [4], [4, 2], [8], [3]):
        yield f"ragged/output_shape/{shape}", lambda n=shape: found(ragged, output_shape=n)
    yield "ragged/output_shape/weights", lambda: found(ragged, weights, output_shape=[2, 2])
    yield "sparse/output_shape", lambda: found(sparse, output_shape=[4], max_sequence_length=2)
    yield "weights/kind", lambda: found(ragged, sparse_weights)
    yield "weights/sequence", lambda: found(ragged, weights, max_sequence_length=2)
    yield "ragged/rank", lambda: found(tf.ragged.constant([[[1], [2, 3]]]))
    yield "list", lambda: found("text")

    def structure() -> Any:
        one = embedding.TableConfig(5, 2, initializer=_rows, name="one")
        two = embedding.TableConfig(5, 2, initializer=_rows, combiner="sum")
        features = {
            "a": embedding.FeatureConfig(one),
            "b": [embedding.FeatureConfig(two), embedding.FeatureConfig(one)],
        }
        made = embedding.TPUEmbeddingForServing(features, embedding.FTRL())
        some = made({"b": [tf.constant([1]), ragged]}, {"b": [None, weights]})
        return [some["b"], [one.name, two.name], sorted(made.variables["one"])]

    yield "structure", structure

    def unknown() -> Any:
        table = embedding.TableConfig(5, 2, name="t")
        feature = {"a": embedding.FeatureConfig(table)}
        return embedding.serving_embedding_lookup({"b": tf.constant([1])}, None, {}, feature)

    yield "unknown", unknown

    def gradient() -> Any:
        table = embedding.TableConfig(5, 2, initializer=_rows, combiner="sqrtn", name="t")
        made = embedding.TPUEmbeddingForServing(embedding.FeatureConfig(table), None)
        variable = made.embedding_tables[table]
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.square(made(ragged, weights)))
        return tf.convert_to_tensor(tape.gradient(total, variable))

    yield "gradient", gradient


@scenario("tpu_embeddings.configs", GROUP, NONE)
def configs(s: Setting) -> Iterator[Case]:
    embedding = s.tf.tpu.experimental.embedding
    kinds = ("SGD", "Adagrad", "AdagradMomentum", "FTRL", "Adam")
    for kind in kinds:
        made = getattr(embedding, kind)

        def slots(made: Any = made) -> Any:
            table = embedding.TableConfig(2, 1, optimizer=made(), name="t")
            held = embedding.TPUEmbeddingForServing(embedding.FeatureConfig(table), None)
            found = held.variables["t"]
            del found["parameters"]
            return {name: one.numpy() for name, one in sorted(found.items())}

        yield f"{kind}/slots", slots
        yield f"{kind}/learning_rate", lambda m=made: float(m().learning_rate)
        yield f"{kind}/equal", lambda m=made: [m(0.5) == m(0.5), m(0.5) == m(0.25)]
        yield (
            f"{kind}/clipvalue",
            lambda m=made: [
                [one.clip_gradient_min, one.clip_gradient_max]
                for one in (m(clipvalue=2.0), m(clipvalue=(-1.0, 3.0)))
            ],
        )
        yield (
            f"{kind}/clipvalue/refused",
            lambda m=made: m(use_gradient_accumulation=False, clipvalue=1.0),
        )
    yield "Adagrad/refused", lambda: embedding.Adagrad(initial_accumulator_value=0)
    yield "FTRL/refused", lambda: embedding.FTRL(initial_accumulator_value=-1.0)
    yield "AdagradMomentum/epsilon", lambda: embedding.AdagradMomentum(epsilon=0.0)
    yield "AdagradMomentum/exponent", lambda: embedding.AdagradMomentum(exponent=0.0)
    yield "Adam/beta", lambda: embedding.Adam(beta_2=1.0)
    yield "Adam/epsilon", lambda: embedding.Adam(epsilon=0.0)
    yield "Adam/lazy", lambda: embedding.Adam(lazy_adam=False, use_gradient_accumulation=False)
    yield "creation/refused", lambda: embedding.Adam(slot_variable_creation_fn=1)

    def created() -> Any:
        seen = []

        def create(table: Any, names: Any, initializers: Any) -> Any:
            seen.append([list(table.shape), names, len(initializers)])
            return {}

        table = embedding.TableConfig(
            *(2, 1), optimizer=embedding.Adam(slot_variable_creation_fn=create), name="t"
        )
        embedding.TPUEmbeddingForServing(embedding.FeatureConfig(table), None).build()
        return seen

    yield "creation", created
    for name, words in {
        "vocabulary": {"vocabulary_size": 0},
        "dim": {"dim": 1.5},
        "initializer": {"initializer": 1},
        "combiner": {"combiner": "max"},
        "dtype": {"dtype": s.tf.float16},
    }.items():
        yield (
            f"table/{name}",
            lambda w=words: embedding.TableConfig(
                **({"vocabulary_size": 2, "dim": 1, "name": "t"} | w)
            ),
        )
    table = embedding.TableConfig(4, 3, name="t")
    yield "table", lambda: repr(table)
    yield "feature", lambda: repr(embedding.FeatureConfig(table, 2, False, name="f"))
    for name, words in {
        "table": {"table": 1},
        "length": {"max_sequence_length": -1},
        "validate": {"validate_weights_and_indices": 1},
    }.items():
        yield (
            f"feature/{name}",
            lambda w=words: embedding.FeatureConfig(**({"table": table} | w)),
        )
    yield "quantization", lambda: repr(embedding.QuantizationConfig(2, -1.0, 1.0))
    yield "quantization/refused", lambda: embedding.QuantizationConfig(1, -1.0, 1.0)
    yield "rows", lambda: embedding.RowIdInitializer(3)([2, 3], s.tf.float32)

    def twice(optimizer: Any = None) -> Any:
        tables = [embedding.TableConfig(2, 1, name="t", optimizer=optimizer) for _ in range(2)]
        features = [embedding.FeatureConfig(one) for one in tables]
        return embedding.TPUEmbeddingForServing(features, None)

    yield "names", twice
    yield "optimizer", lambda: twice("sgd")
