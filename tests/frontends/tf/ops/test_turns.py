"""Loops around the code that is being traced."""

from frontends.tf.ops.turns import (
    in_loop,
    next_place,
    tracing_part,
    turn_counter,
    turns_around,
)


def test_turns_of_nested_loops_multiply():
    assert turns_around() is None
    with in_loop(3, "i"):
        assert (turns_around(), turn_counter()) == (3, "i")
        with in_loop(4):
            assert (turns_around(), turn_counter()) == (12, None)
        with in_loop(None):
            assert turns_around() is None


def test_places_are_the_same_when_a_part_is_traced_again():
    part = next_place()
    found = []
    for _ in range(2):
        with tracing_part(part):
            found.append([next_place(), next_place()])
    assert found[0] == found[1] == [(*part, 0), (*part, 1)]
    assert next_place() != part
