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


def test_a_subclass_gets_its_arguments_as_they_are():
    class Own(v1.Variable):
        def __init__(self, *args, factor=1, **kwargs):
            self.given = args, factor, kwargs
            super().__init__(*args, **kwargs)

    own = Own(1.0, False, factor=2, name="own")
    assert own.given == ((1.0, False), 2, {"name": "own"})
    assert (own.name, own.trainable) == ("own:0", False)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ([1.0] * 16, {}, "too many positional arguments"),
        ([1.0, True], {"trainable": False}, "multiple values for argument 'trainable'"),
        ([1.0], {"unknown": 1}, "unexpected keyword argument 'unknown'"),
    ],
)
def test_wrong_arguments_are_told(args, kwargs, said):
    with pytest.raises(TypeError, match=said):
        v1.Variable(*args, **kwargs)


def test_a_value_needs_no_session():
    with pytest.raises(NotImplementedError, match=r"write v.numpy\(\)"):
        v1.Variable(1.0).eval()
