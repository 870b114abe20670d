"""Rewriting functions, with the lines of the user's code."""

import traceback
from typing import Any

import pytest

from frontends import tf
from frontends.tf.autograph import conversion
from frontends.tf.autograph.conversion import to_code


def convert(function: Any) -> Any:
    return conversion.convert(function)


def sample(x, *, factor=2):
    """Doubles."""
    if x > 0:
        x = x * factor
    return x


def test_a_converted_function_is_like_the_old_one() -> None:
    new = convert(sample)
    assert (new.__name__, new.__doc__, new.__module__) == ("sample", "Doubles.", __name__)
    assert new(3) == 6
    assert new(3, factor=5) == 15
    assert new(-3) == -3


def test_closures_are_shared() -> None:
    count = 0

    def add(x):
        nonlocal count
        count = count + x
        return count

    new = convert(add)
    assert (new(2), add(3), new(4), count) == (2, 5, 9, 9)


def test_tracebacks_show_the_users_lines_and_no_other_columns() -> None:
    def fails(x):
        while x > 0:
            x = x - 1
            if x == 1:
                raise ValueError("at one")

    with pytest.raises(ValueError, match="at one") as caught:
        convert(fails)(3)
    text = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError("at one")' in text
    assert (
        "in test_tracebacks_show_the_users_lines_and_no_other_columns.<locals>.fails" in text
        or "in fails" in text
    )
    frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert [f.name for f in frames][1:] == ["fails", "fails", "fails"]


def test_what_cannot_be_converted_is_none() -> None:
    namespace = {}
    exec("def from_text(x):\n    return x", namespace)
    assert convert(namespace["from_text"]) is None

    def assigns_in_an_expression(x):
        return [(twice := x * 2), twice]

    assert convert(assigns_in_an_expression) is None
    found = tf.function(assigns_in_an_expression)(tf.constant(2.0))
    assert [float(value) for value in found] == [4, 4]


def test_the_code_can_be_read() -> None:
    code = to_code(sample)
    assert "ag__.if_stmt" in code
    assert code == tf.autograph.to_code(tf.function(sample))
    compile(code, "code", "exec")


def inner(x):
    return x + 1


outer = inner


def test_names_of_a_module_are_found_whatever_they_are() -> None:
    @tf.function
    def call(x):
        if x > 0:
            x = inner(x)
        return outer(x)

    assert float(call(tf.constant(1.0))) == 3


def test_annotated_names_are_values_of_branches() -> None:
    @tf.function
    def call(x: tf.Tensor) -> tf.Tensor:
        y: tf.Tensor = x
        if y > 0:
            y: tf.Tensor = y + 1
        return y

    assert [float(call(tf.constant(value))) for value in (2.0, -2.0)] == [3.0, -2.0]
