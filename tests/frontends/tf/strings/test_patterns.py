"""RE2's syntax, by Python's `re`; tests/golden compares results with TensorFlow's."""

import pytest

from frontends.tf.strings import patterns


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (rb"a$", "a\n", False),
        (rb"(?m)a$", "a\nb", True),
        (rb"\x{e9}", "é", True),
        (rb"[\pL]+", "é", True),
        (rb"[[:^digit:]]", "5", False),
        (rb"[&&[]", "&", True),
        (rb"[]a]", "]", True),
        (rb"\w", "é", False),
        (rb"a\z", "a", True),
    ],
)
def test_translated(pattern, text, matches):
    assert (patterns.compiled(pattern).search(text) is not None) == matches


@pytest.mark.parametrize("pattern", [rb"(?=a)", rb"(a)\1", rb"\p{Greek}", rb"\Za", rb"[a"])
def test_what_re2_has_not_or_python_has_not(pattern):
    with pytest.raises(ValueError, match="Invalid pattern"):
        patterns.compiled(pattern)
