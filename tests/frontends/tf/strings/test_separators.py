"""How texts are taken apart at a separator."""

import pytest

from frontends.tf.strings.separators import splitter


@pytest.mark.parametrize(
    ("separator", "most", "parts"),
    [
        (None, -1, [b"a", b"b", b"c"]),
        (None, 1, [b"a", b"b  c "]),
        (None, 3, [b"a", b"b", b"c", b""]),
        (" ", 2, [b"", b"a", b"b  c "]),
        ("", 0, [b" a b  c "]),
        (" ", -5, [b"", b"a", b"b", b"", b"c", b""]),
    ],
)
def test_how_often(separator, most, parts):
    assert splitter(separator, most)(b" a b  c ") == parts
