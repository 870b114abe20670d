"""Characters; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="replacement_char out of"):
        tf.strings.unicode_decode("a", "UTF-8", replacement_char=-5)
    with pytest.raises(ValueError, match="one dimension"):
        tf.strings.unicode_encode(97, "UTF-8")


def test_there_and_back():
    texts = ["aé", "", "日本"]
    codes = tf.strings.unicode_decode(texts, "UTF-8")
    assert tf.strings.unicode_encode(codes, "UTF-8").tolist() == [one.encode() for one in texts]
    assert tf.strings.unicode_script(codes).to_list() == [[25, 25], [], [17, 17]]


@pytest.mark.parametrize(
    ("encoding", "text", "codes", "offsets"),
    [  # TensorFlow's
        ("UTF-16-BE", "hé😀".encode("utf-16-be"), [104, 233, 128512], [0, 2, 4]),
        ("UTF-16-LE", "hé😀".encode("utf-16-le"), [104, 233, 128512], [0, 2, 4]),
        ("UTF-16", b"\xff\xfe" + "hé".encode("utf-16-le"), [104, 233], [0, 4]),
        ("UTF-16", b"\xfe\xff" + "hé".encode("utf-16-be"), [104, 233], [0, 4]),
        ("UTF-16", "hé😀a".encode("utf-16-be"), [104, 233, 128512, 97], [0, 2, 4, 8]),
        ("UTF-32", b"\xff\xfe\0\0" + "hé".encode("utf-32-le"), [104, 233], [0, 8]),
        ("UTF-16-BE", b"\xd8\x00\x00a\x00", [65533, 97, 65533], [0, 2, 4]),
        ("UTF-8", b"\xbf\x80h\xff\xe2\x82", [65533, 65533, 104, 65533, 65533], [0, 1, 2, 3, 4]),
    ],
)
def test_where_characters_begin(encoding, text, codes, offsets):
    found = tf.strings.unicode_decode_with_offsets(text, encoding)
    assert [one.tolist() for one in found] == [codes, offsets]


def test_characters_are_split_in_encodings_without_a_mark():
    pieces, offsets = tf.strings.unicode_split_with_offsets("é😀".encode("utf-16-be"), "UTF-16-BE")
    assert (pieces.tolist(), offsets.tolist()) == ([b"\x00\xe9", b"\xd8=\xde\x00"], [0, 2])
    with pytest.raises(ValueError, match="encoding must be one of"):
        tf.strings.unicode_split("é".encode("utf-16"), "UTF-16")


@pytest.mark.parametrize(
    ("begin", "count", "expected"),
    [(0, 1, b"\xbf\x80"), (0, 2, b"\xbf\x80h"), (1, 1, b"h"), (-1, 1, b"\xc3\xa9")],
)
def test_bytes_of_no_character_at_the_beginning_stay(begin, count, expected):
    text = b"\xbf\x80h\xc3\xa9"
    assert tf.strings.substr(text, begin, count, unit="UTF8_CHAR").item() == expected
    assert tf.strings.length(text, unit="UTF8_CHAR").item() == 2
