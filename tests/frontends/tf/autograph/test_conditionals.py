"""`if` on tensors."""

from typing import Any

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.autograph.helpers import both


def test_if_elif_else() -> None:
    def grade(x):
        if x > 90.0:
            mark = 1
        elif x > 50.0:
            mark = 2
        else:
            mark = 3
        return mark

    assert [both(grade, x) for x in (95.0, 70.0, 20.0)] == [1, 2, 3]


def test_a_name_that_only_one_branch_changes() -> None:
    def relu(x):
        y = x
        if x < 0:
            y = tf.zeros_like(y)
        return y

    assert [both(relu, x) for x in (2.0, -2.0)] == [2.0, 0.0]


def test_early_returns() -> None:
    def sign(x):
        if x > 0:
            return 1
        if x < 0:
            return -1
        return 0

    assert [both(sign, x) for x in (3.0, -3.0, 0.0)] == [1, -1, 0]


def test_structures_are_kept() -> None:
    def choose(x):
        if x > 0:
            out = {"a": x, "b": [x * 2, 1]}
        else:
            out = {"a": -x, "b": [x, 2]}
        return out

    assert both(choose, 3.0) == {"a": 3, "b": [6, 1]}
    assert both(choose, -3.0) == {"a": 3, "b": [-3, 2]}


def test_attributes_and_items() -> None:
    class Box:
        value = 0.0

    def keep(x):
        box, kept = Box(), {"last": tf.constant(0.0)}
        if x > 1.0:
            box.value = x
            kept["last"] = x * 2
        else:
            box.value = -x
        return box.value, kept["last"]

    assert both(keep, 3.0) == (3, 6)
    assert both(keep, 0.5) == (-0.5, 0)


def test_conditional_expressions_and_logic() -> None:
    def clip(x):
        inside = x > -1.0 and x < 1.0
        return x if inside or not x < 100.0 else tf.sign(x)

    assert [both(clip, x) for x in (0.5, 7.0, -7.0, 200.0)] == [0.5, 1, -1, 200]


def test_variables_change_on_the_side_that_is_taken() -> None:
    ups, downs = tf.Variable(0), tf.Variable(0)

    @tf.function
    def count(x):
        if x > 0:
            ups.assign_add(1)
        else:
            downs.assign_add(1)

    for x in (1.0, -1.0, 2.0):
        count(tf.constant(x))
    assert (int(ups.numpy()), int(downs.numpy())) == (2, 1)
    assert count.experimental_get_tracing_count() == 1


def test_a_variable_as_the_condition() -> None:
    on = tf.Variable(True)

    @tf.function
    def value():
        return 1 if on else 2

    assert int(value()) == 1
    on.assign(False)
    assert int(value()) == 2


def test_gradients_of_the_branch_that_is_taken() -> None:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            if x > 1.0:
                y = x * x
            else:
                y = 5.0 * x
        return tape.gradient(y, x)

    assert [float(slope(tf.constant(x))) for x in (3.0, 0.5)] == [6, 5]


@pytest.mark.parametrize("replicas", [1, 2])
def test_in_replicas(replicas) -> None:
    strategy = tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
    with strategy.scope():
        steps = tf.Variable(0.0)

    def replica(x):
        context: Any = tf.distribute.get_replica_context()
        total = context.all_reduce("SUM", tf.reduce_sum(x))
        if total > 5.0:
            steps.assign_add(1.0)
        # Every replica may go another way, as long as it writes nothing.
        return tf.reduce_sum(x) if tf.reduce_sum(x) > 2.0 else tf.constant(-1.0)

    rows = tf.data.Dataset.from_tensor_slices(np.arange(4, dtype=np.float32)).batch(4)
    (batch,) = strategy.experimental_distribute_dataset(rows)
    values = strategy.experimental_local_results(strategy.run(replica, args=(batch,)))
    assert [float(value) for value in values] == ([6] if replicas == 1 else [-1, 5])
    assert float(steps.numpy()) == 1


def fails(function, error, match, *args):
    with pytest.raises(error, match=match):
        tf.function(function)(*map(tf.constant, args or (1.0,)))


def test_what_cannot_be_says_why() -> None:
    def one_side(x):
        if x > 0:
            y = 1
        return y

    def other_dtype(x):
        if x > 0:
            y = tf.constant(1)
        else:
            y = tf.constant(1.0)
        return y

    def other_shape(x):
        if x > 0:
            y = tf.zeros(2)
        else:
            y = tf.zeros(3)
        return y

    def other_structure(x):
        if x > 0:
            y = x
        else:
            y = None
        return y

    def other_object(x):
        if x > 0:
            y = "a"
        else:
            y = "b"
        return len(y)

    def no_scalar(x):
        if tf.zeros(2) > x:
            return 1
        return 2

    fails(one_side, ValueError, "'y' must also be initialized in the else branch")
    fails(other_dtype, TypeError, "'y' must have the same dtype in both branches")
    fails(other_shape, ValueError, r"'y' has shape \(2,\) after the main branch")
    fails(other_structure, ValueError, "'y' is None at the end of the else branch")
    fails(other_object, TypeError, "'y' is 'a' after the main branch")
    fails(no_scalar, ValueError, "tf.reduce_all")


def test_an_error_shows_the_users_line() -> None:
    def broken(x):
        if x > 0:
            raise KeyError("in the branch")
        return x

    with pytest.raises(KeyError) as caught:
        tf.function(broken)(tf.constant(1.0))
    lines = [
        entry for entry in caught.traceback if str(entry.path).endswith("test_conditionals.py")
    ]
    assert str(lines[-1].statement).strip() == 'raise KeyError("in the branch")'
    assert lines[-1].name == "broken"


def test_a_variable_in_one_branch_stands_for_its_value() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            if x > 0:
                y = v * v * x
            else:
                y = v
        return tape.gradient(y, v)

    assert [float(slope(tf.constant(x))) for x in (3.0, -3.0)] == [12.0, 1.0]

    @tf.function
    def counted(x):
        held = v
        if x > 0:
            held = v
            held.assign_add(1.0)
        return held

    assert [float(counted(tf.constant(x))) for x in (3.0, -3.0)] == [3.0, 3.0]


def test_a_condition_that_is_known_takes_one_branch() -> None:
    @tf.function
    def run(x):
        if tf.shape(x)[0] * tf.constant(2) > 3:
            return x
        return tf.reduce_sum(x)

    assert run(tf.ones(3)).shape == (3,)
    assert run(tf.ones(1)).shape == ()


def test_a_name_of_the_user_may_look_like_one_of_malt() -> None:
    @tf.function
    def missing(x):
        if x > 0:
            my_retval_x = x
        return my_retval_x

    with pytest.raises(ValueError, match="'my_retval_x' must also be initialized in the else"):
        missing(tf.constant(1.0))


def test_messages_do_not_name_what_malt_made() -> None:
    @tf.function
    def differ(x):
        if x > 0:
            return tf.ones([2])
        return tf.ones([3])

    with pytest.raises(ValueError, match=r"'the returned value' has shape \(2,\)"):
        differ(tf.constant(1.0))
