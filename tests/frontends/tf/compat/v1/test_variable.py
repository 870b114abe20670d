"""`tf.Variable` with TensorFlow 1's parameters."""

import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_parameters_are_those_of_tensorflow_1():
    with Graph().as_default() as graph:
        step = v1.Variable(
            0, False, ["mine"], True, None, "step", None, "int64", [], use_resource=True
        )
    assert (step.name, step.trainable) == ("step:0", False)
    assert graph.get_collection("mine") == [step]
    assert graph.get_collection("variables") == []


def test_there_is_one_kind_of_variable():
    class Own(v1.Variable):
        pass

    made, own = v1.Variable(1.0), Own(1.0, False, name="own")
    assert type(made) is tf.Variable
    assert all(isinstance(one, v1.Variable) for one in (made, own, tf.Variable(1.0)))
    assert isinstance(own, Own)
    assert not isinstance(made, Own)
    assert not isinstance(1.0, v1.Variable)
    assert (own.name, own.trainable) == ("own:0", False)


def test_a_value_needs_no_session():
    with pytest.raises(NotImplementedError, match=r"write v.numpy\(\)"):
        v1.Variable(1.0).eval()
