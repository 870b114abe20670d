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


# These are what TensorFlow gives for the text.
TEXT = b"aab AB\nab\nA\na\nx{a a{,2}"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (rb"(?U)a+", b"**b AB\n*b\nA\n*\nx{* *{,2}"),
        (rb"(?U)a+?b", b"* AB\n*\nA\na\nx{a a{,2}"),
        (rb"a(?i)b", b"a* AB\n*\nA\na\nx{a a{,2}"),
        (rb"((?i)a)b", b"a* AB\n*\nA\na\nx{a a{,2}"),
        (rb"(?:(?i)a|b)B", b"aab *\nab\nA\na\nx{a a{,2}"),
        (rb"(?m:a$)", b"aab AB\nab\nA\n*\nx{a a{,2}"),
        (rb"(?i)(?-i)a", b"**b AB\n*b\nA\n*\nx{* *{,2}"),
        (rb"a{,2}", b"aab AB\nab\nA\na\nx{a *"),
        (rb"a??", b"*a*a*b* *A*B*\n*a*b*\n*A*\n*a*\n*x*{*a* *a*{*,*2*}*"),
    ],
)
def test_flags_and_repetitions(pattern, expected):
    rewrite = patterns.rewritten(b"*", 0)
    found = patterns.replaced(patterns.compiled(pattern), rewrite, TEXT, everywhere=True)
    assert found == expected


_INVALID = [rb"(?x)a", rb"(?#c)a", rb"(?>a)", rb"(?<=a)b", rb"(?i", rb"a++", rb"\x{zz}", rb"\x{61"]


@pytest.mark.parametrize(
    "pattern", [rb"(?=a)", rb"(a)\1", rb"\p{Greek}", rb"\Za", rb"[a", *_INVALID]
)
def test_what_re2_has_not_or_python_has_not(pattern):
    with pytest.raises(ValueError, match="Invalid pattern"):
        patterns.compiled(pattern)
