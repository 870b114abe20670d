"""Tables outside of a TPU: that they train, restore, and are named; the recorded results have the numbers."""

import numpy as np
import pytest

from frontends import tf

embedding = tf.tpu.experimental.embedding


def made(optimizer=None):
    table = embedding.TableConfig(4, 2, initializer=embedding.RowIdInitializer(), name="words")
    return embedding.TPUEmbeddingForServing({"a": embedding.FeatureConfig(table)}, optimizer)


def test_a_table_is_trained_in_steps():
    model = made()
    (variable,) = model.embedding_tables.values()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model({"a": ids})["a"])
        return tf.convert_to_tensor(tape.gradient(loss, variable))

    gradients = strategy.run(step, args=(tf.constant([1, 3, 3]),))
    for gradient in strategy.experimental_local_results(gradients):
        assert gradient.tolist() == [[0, 0], [1, 1], [0, 0], [2, 2]]


def test_a_checkpoint_has_the_tables(tmp_path):
    model = made(embedding.Adagrad())
    model.build()
    (variable,) = model.embedding_tables.values()
    variable.assign_add(tf.ones([4, 2]))
    path = tf.train.Checkpoint(embedding=model).save(str(tmp_path / "saved"))
    other = made(embedding.Adagrad())
    tf.train.Checkpoint(embedding=other).restore(path)
    assert np.array_equal(other({"a": tf.constant([3])})["a"], [[4, 4]])


def test_a_tpu_is_no_place_for_it(simulate):
    simulate("tpu:2")
    strategy = tf.distribute.TPUStrategy()
    with strategy.scope(), pytest.raises(RuntimeError, match=r"use tf.keras.layers.Embedding\("):
        made()


@pytest.mark.parametrize("name", ["TPUEmbedding", "TPUEmbeddingV2", "CustomOptimizer"])
def test_other_names_say_what_to_write(name):
    with pytest.raises(AttributeError, match=rf"embedding\.{name} is not .*Embedding\(vocabulary"):
        getattr(embedding, name)
