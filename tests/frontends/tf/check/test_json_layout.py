"""A JSON file is written as it was laid out."""

import json

import pytest

from frontends.tf.check.json_layout import layout_of


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1, 2]\n",
        '{"a": [1, 2], "b": {}}',
        '{"a":[1,2],"b":{}}\n',
        '{\n "a": "ü",\n "b": [\n  "\\u001b"\n ]\n}\n',
        '{\r\n\t"a": "\\u00fc\\r\\n"\r\n}\r\n',
        '{\n"a:b\\"": 1\n}\n\n',
    ],
)
def test_what_was_read_is_written(text):
    assert layout_of(text).write(json.loads(text)) == text
