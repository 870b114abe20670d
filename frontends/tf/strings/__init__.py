"""`tf.strings`: functions of texts, on the host. Devices hold no text."""

from frontends.tf import _names
from frontends.tf.strings import ops, unicode

__getattr__, __dir__ = _names.attributes(
    "tf.strings",
    {
        name: function
        for name, function in (
            _names.defined_in(ops.__name__) | _names.defined_in(unicode.__name__)
        ).items()
        if name != "splitter"
    },
)
