"""`tf.ragged`: rows of different lengths, in host memory. A step gets dense arrays."""

from frontends.tf import _names
from frontends.tf.ragged import ops
from frontends.tf.ragged.ragged_tensor import RaggedTensor as RaggedTensor
from frontends.tf.ragged.spec import RaggedTensorSpec as RaggedTensorSpec

__getattr__, __dir__ = _names.attributes(
    "tf.ragged",
    {
        name: function
        for name, function in _names.defined_in(ops.__name__).items()
        if name not in ("concat", "expand_dims")
    },
    present=("RaggedTensor", "RaggedTensorSpec"),
    borrowed={
        "cross": "frontends.tf.sparse.crossing:ragged_cross",
        "cross_hashed": "frontends.tf.sparse.crossing:ragged_cross_hashed",
    },
)
