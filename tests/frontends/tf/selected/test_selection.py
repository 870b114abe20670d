"""Selections, and what moves and fills the entries that count."""

import jax.numpy as jnp

from frontends.tf.selected.selection import Marked, Selection, SelectionError, compacted, filled

_VALID = jnp.asarray([False, True, False, True])


def test_counts():
    selection = Selection(_VALID)
    assert (selection.size, int(selection.count())) == (4, 2)


def test_selections_of_one_mask_are_the_same():
    assert Selection(_VALID, _VALID).same(Selection(~_VALID, _VALID))
    assert not Selection(_VALID).same(Selection(_VALID))


def test_entries_that_count_move_to_the_beginning():
    value = Marked(jnp.arange(8).reshape(2, 4), (None, Selection(_VALID)))
    moved = compacted(value, 1)
    assert moved.array[:, :2].tolist() == [[1, 3], [5, 7]]
    _, mark = moved.marks
    assert mark is not None
    assert mark.valid.tolist() == [True, True, False, False]
    assert compacted(value, 0) is value


def test_the_others_are_filled():
    value = Marked(jnp.ones([4, 2]), (Selection(_VALID), None))
    assert filled(value, 0).sum(1).tolist() == [0, 2, 0, 2]


def test_errors_are_those_of_operands():
    assert issubclass(SelectionError, ValueError)
    assert "tf.where(mask, x, 0)" in str(SelectionError("len(x)"))
