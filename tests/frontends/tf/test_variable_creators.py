"""Functions that make variables."""

from frontends import tf


def test_the_innermost_function_is_asked_first():
    asked = []

    def creator(name):
        def create(next_creator, **kwargs):
            asked.append((name, kwargs["trainable"]))
            return next_creator(**kwargs | {"trainable": False})

        return create

    with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
        made = tf.Variable(1.0, name="v")
    assert asked == [("inner", None), ("outer", False)]
    assert (made.trainable, made.name) == (False, "v:0")
    assert tf.Variable(1.0).trainable
