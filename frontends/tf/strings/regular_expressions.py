"""Regular expressions on texts."""

from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import (
    single_text,
)
from frontends.tf.strings import patterns
from frontends.tf.strings.mapping import on_each


def regex_replace(
    input: HostLike,
    pattern: HostLike,
    rewrite: HostLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Any:
    r"""Replaces what a pattern matches.

    Args:
        input: texts.
        pattern: a regular expression in RE2's syntax.
        rewrite: what to put there; `\1` is the first group, `\0` all that matched.
        replace_global: whether to go on after the first match in a text.

    Returns:
        Texts of the shape of `input`. A `rewrite` that names a group that the pattern does not have leaves them as they are,
        with a warning in the log, as RE2 does.

    Raises:
        ValueError: `pattern` is no regular expression.

    Examples:
        >>> from frontends import tf
        >>> print(tf.strings.regex_replace("a1b22", "[0-9]+", "#"))
        b'a#b#'

    Source: `tf.strings.regex_replace`. Python's `re` matches (`frontends/tf/strings/patterns.py` says what is translated).
    """
    found = patterns.compiled(single_text(pattern, "regex_replace: pattern"))
    parts = patterns.rewritten(single_text(rewrite, "regex_replace: rewrite"), found.groups)
    return on_each(
        lambda text: patterns.replaced(found, parts, text, everywhere=replace_global),
        input,
        "tf.strings.regex_replace: input",
    )


def regex_full_match(input: HostLike, pattern: HostLike, name: str | None = None) -> Any:
    """Tells which texts a pattern matches as a whole.

    Args:
        input: texts.
        pattern: a regular expression in RE2's syntax.

    Raises:
        ValueError: `pattern` is no regular expression.

    Source: `tf.strings.regex_full_match`.
    """
    found = patterns.compiled(single_text(pattern, "regex_full_match: pattern"))
    return on_each(
        lambda text: found.fullmatch(text.decode("utf-8", "surrogateescape")) is not None,
        input,
        "tf.strings.regex_full_match: input",
        np.bool_,
    )
