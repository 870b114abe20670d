"""TPU embeddings say what to write instead."""

import pytest

from frontends import tf


@pytest.mark.parametrize("name", ["TPUEmbedding", "TableConfig", "FeatureConfig", "Adagrad"])
def test_names_say_what_to_write(name):
    with pytest.raises(AttributeError, match=rf"embedding\.{name} is not .*Embedding\(vocabulary"):
        getattr(tf.tpu.experimental.embedding, name)


def test_it_looks_like_a_module():
    assert not hasattr(tf.tpu.experimental.embedding, "__wrapped__")
