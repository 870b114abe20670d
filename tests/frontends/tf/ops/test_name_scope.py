"""`tf.name_scope`: what it names."""

import pytest

from frontends import tf


def test_scopes_nest():
    with tf.name_scope("a") as outer, tf.name_scope("b/c") as inner:
        assert (outer, inner) == ("a/", "a/b/c/")
        assert tf.Variable(1.0).name == "a/b/c/Variable:0"
        with tf.name_scope("d/") as absolute, tf.name_scope(""):
            assert absolute == "d/"
            assert tf.Variable(1.0, name="v").name == "v:0"
        with tf.name_scope(outer):
            assert tf.Variable(1.0, name="v").name == "a/v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_a_scope_is_left_after_an_error_and_entered_again():
    scope = tf.name_scope("a")
    for _ in range(2):
        with pytest.raises(KeyError), scope, scope:
            raise KeyError
    assert scope.name == "a"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_a_scope_names_operations_of_a_program():
    @tf.function
    def function(x):
        with tf.name_scope("layer"):
            return tf.exp(x)

    assert "layer/" in function.get_concrete_function(tf.ones(2)).hlo


def test_a_name_is_a_text():
    with pytest.raises(ValueError, match="must be a string, got 3"):
        tf.name_scope(3)
