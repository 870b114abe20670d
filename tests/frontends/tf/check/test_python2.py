"""Python 2 is told from other errors."""

import ast

import pytest

from frontends.tf.check.python2 import explain


def explained(text):
    with pytest.raises(SyntaxError) as error:
        ast.parse(text)
    return explain(text, error.value)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("print 'a'", "a print statement"),
        ("exec 'x'", "an exec statement"),
        ("raise ValueError, 'x'", "raise with a comma"),
        ("if a <> b: pass", "the operator <>"),
        ("x = 0777", "an octal number 0777"),
        ("x = 10L", "a number 1L"),
        ("x = ur'a'", "a text ur''"),
    ],
)
def test_signs_of_python_2(line, what):
    assert explained(f"import x\n{line}\n") == (
        2,
        f"Python 2: {what}. Make Python 3 of it first: 2to3 -w FILE, or futurize",
    )


def test_except_with_a_comma():
    assert "except with a comma" in explained("try:\n    x\nexcept (A, B), e:\n    y\n")[1]


def test_tabs_and_spaces():
    assert "tabs and spaces" in explained("if x:\n        a\n\tb\n")[1]


def test_other_errors_keep_pythons_words():
    assert explained("x = (\n")[1].startswith("not Python 3: ")
