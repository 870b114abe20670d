"""`tf.strings`: functions of texts, on the host. Devices hold no text."""

from frontends.tf import _names
from frontends.tf.strings import (
    formatting,
    hashing,
    joining,
    letters,
    numbers,
    regular_expressions,
    splitting,
    unicode,
)

__getattr__, __dir__ = _names.attributes(
    "tf.strings",
    {
        name: function
        for module in (
            *(formatting, hashing, joining, letters, numbers, regular_expressions, splitting),
            unicode,
        )
        for name, function in _names.defined_in(module.__name__).items()
    },
)
