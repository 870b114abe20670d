"""`tf.compat.v1.Dimension`, as TensorFlow 2.21 has it."""

import pytest

from frontends import tf

D = tf.compat.v1.Dimension


def test_unknown_sizes_are_compatible_with_all():
    assert D(3).is_compatible_with(3)
    assert D(3).is_compatible_with(None)
    assert D(None).is_compatible_with(D(4))
    assert not D(3).is_compatible_with(4)
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        D(3).assert_is_compatible_with(4)


def test_merging_keeps_what_is_known():
    assert repr([D(3).merge_with(None), D(None).merge_with(5)]) == "[Dimension(3), Dimension(5)]"
    with pytest.raises(ValueError, match="3 and 4"):
        D(3).merge_with(4)


def test_comparing_with_an_unknown_size_gives_none():
    known = [D(3) < 4, D(3) >= D(3), D(3) != 4, D(3) == "a", D(3) == 3, D(3) > 3, D(3) <= 2]
    assert known == [True, True, True, False, True, False, False]
    assert [D(None) < 4, D(3) == D(None), D(None) == D(None), D(3) != None] == [None] * 4  # noqa: E711


def test_numbers_stand_on_both_sides():
    results = [10 - D(3), 10 // D(3), 10 % D(3), D(7) // 2, D(7) % 4, 2 * D(3), D(3) + None]
    assert [size.value for size in results] == [7, 3, 1, 3, 3, 6, None]
    assert (str(D(None)), str(D(3)), int(D(D(4)))) == ("?", "3", 4)


def test_a_size_is_a_whole_number_and_no_key():
    for value, error in (("3", TypeError), (2.5, TypeError), (-1, ValueError)):
        with pytest.raises(error, match="Dimension"):
            D(value)
    with pytest.raises(TypeError, match="unhashable"):
        hash(D(3))
    with pytest.raises(TypeError, match="not known"):
        range(D(None))
