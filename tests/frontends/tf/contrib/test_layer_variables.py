"""Collections of what layers make."""

from frontends import tf
from frontends.tf.contrib.layer_variables import collected, layer_variable
from frontends.tf.graph import Graph


def test_collections_by_the_name_of_a_variable():
    with Graph().as_default():
        zeros, further = tf.zeros_initializer(), {"weights": ["a"], "biases": ["b"]}
        for name in ("weights", "biases"):
            layer_variable(name, [1], tf.float32, zeros, variables_collections=further)
        assert [one.op.name for one in tf.get_collection("a")] == ["weights"]
        assert [one.op.name for one in tf.global_variables()] == ["weights", "biases"]
        assert collected(3, None) == 3
        assert collected(4, ["out"]) == 4
        assert tf.get_collection("out") == [4]


def test_variables_of_layers_are_variables_of_the_model():
    with Graph().as_default():
        layers, x = tf.contrib.layers, tf.ones([2, 3])
        tf.get_variable("own", [1])
        for reuse in (None, True):
            with tf.variable_scope("net", reuse=reuse):
                batches = layers.batch_norm(x, scope="batches", variables_collections="mine")
                rows = layers.layer_norm(batches, scope="rows", reuse=reuse)
                layers.fully_connected(rows, 1, scope="last", variables_collections="mine")
        layers.embed_sequence([0], 2, 2, scope="words")
        found = [one.op.name for one in tf.contrib.slim.get_model_variables()]
        mine = ["net/batches/beta", *(f"net/batches/moving_{one}" for one in ("mean", "variance"))]
        last = ["net/last/weights", "net/last/biases"]
        rows = ["net/rows/beta", "net/rows/gamma"]
        assert found == [*mine, *rows, *last, "words/embeddings"]
        assert [one.op.name for one in tf.get_collection("mine")] == [*mine, *last]
