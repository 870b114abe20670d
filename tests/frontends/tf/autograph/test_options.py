"""What scripts say about AutoGraph."""

import logging
from typing import Any

import pytest

from frontends import tf


def double(x):
    """Doubles."""
    return x * 2


def test_do_not_convert_keeps_a_function_what_it_is() -> None:
    for decorate in (
        tf.autograph.experimental.do_not_convert,
        tf.autograph.experimental.do_not_convert(),
    ):
        function = decorate(double)
        assert (function(2), function.__name__, function.__wrapped__) == (4, "double", double)


def test_to_graph_makes_the_converted_function() -> None:
    assert tf.autograph.to_graph(double)(4) == 8
    number: Any = 3
    with pytest.raises(ValueError, match="converts functions, but got 3"):
        tf.autograph.to_code(number)
    namespace = {}
    exec("def from_text(x):\n    return x", namespace)
    with pytest.raises(ValueError, match="source cannot be had"):
        tf.autograph.to_graph(namespace["from_text"])


def test_set_verbosity_and_trace(capsys) -> None:
    logger = logging.getLogger("frontends.tf.autograph")
    before = logger.level
    tf.autograph.set_verbosity(3)
    assert logger.level == logging.INFO
    logger.setLevel(before)
    tf.autograph.trace("a", 1)
    assert capsys.readouterr().out == "a 1\n"


def test_the_names_are_there() -> None:
    assert {"to_code", "to_graph", "experimental", "set_verbosity", "trace"} <= set(
        dir(tf.autograph)
    )
    assert {"do_not_convert", "set_loop_options", "Feature"} <= set(dir(tf.autograph.experimental))
    assert tf.autograph.experimental.Feature.LISTS.value == "LISTS"
    with pytest.raises(AttributeError, match=r"tf\.autograph\.experimental\.unknown"):
        tf.autograph.experimental.unknown  # noqa: B018
