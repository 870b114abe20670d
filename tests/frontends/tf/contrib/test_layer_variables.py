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
