"""Lists and dicts as attributes of a checkpoint; the scripts and values are TensorFlow's."""

import pytest

from frontends import tf


def saved(folder):
    """As in TensorFlow's guide to checkpoints."""
    save = tf.train.Checkpoint()
    save.listed = [tf.Variable(1.0)]
    save.listed.append(tf.Variable(2.0))
    save.mapped = {"one": save.listed[0]}
    save.mapped["two"] = save.listed[1]
    return save.save(f"{folder}/tf_list_example")


def test_a_dict_restores_what_a_list_saved(tmp_path):
    restore = tf.train.Checkpoint()
    v2 = tf.Variable(0.0)
    restore.mapped = {"two": v2}
    restore.restore(saved(tmp_path))
    assert v2.numpy() == 2


@pytest.mark.parametrize(
    ("make", "add"),
    [
        (list, lambda items, new: items.extend(new)),
        (list, lambda items, new: [items.append(item) for item in new]),
        (list, lambda items, new: items.__iadd__(new)),
        (dict, lambda items, new: items.update(one=new[0], two=new[1])),
        (
            dict,
            lambda items, new: [items.setdefault("one", new[0]), items.setdefault("two", new[1])],
        ),
    ],
)
def test_items_that_come_later_are_restored_then(tmp_path, make, add):
    checkpoint = tf.train.Checkpoint()
    setattr(checkpoint, "listed" if make is list else "mapped", make())
    checkpoint.restore(saved(tmp_path))
    new = [tf.Variable(0.0), tf.Variable(0.0)]
    add(checkpoint.listed if make is list else checkpoint.mapped, new)
    assert [v.numpy() for v in new] == [1, 2]


def test_lists_in_dicts_are_tracked(tmp_path):
    def make():
        return tf.train.Checkpoint(table={"rows": []})

    one = make()
    one.table["rows"].append(tf.Variable(5.0))
    path = one.write(f"{tmp_path}/ckpt")
    other, value = make(), tf.Variable(0.0)
    other.read(path)
    other.table["rows"].append(value)
    assert value.numpy() == 5


def test_a_step_finds_variables_in_them():
    checkpoint = tf.train.Checkpoint(
        step=tf.Variable(1), items=[tf.Variable(0.0)], table={"k": tf.Variable(0.0)}
    )

    @tf.function
    def step():
        checkpoint.step.assign_add(1)
        checkpoint.items[0].assign_add(2.0)
        checkpoint.table["k"].assign_add(3.0)

    step()
    step()
    values = checkpoint.step, checkpoint.items[0], checkpoint.table["k"]
    assert [value.numpy() for value in values] == [3, 4, 6]
