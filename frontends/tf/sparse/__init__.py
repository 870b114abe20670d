"""`tf.sparse`: sparse tensors in host memory, as records are parsed to, and the way to dense arrays."""

from frontends.tf import _names
from frontends.tf.sparse import transforms
from frontends.tf.sparse.ops import from_dense as from_dense
from frontends.tf.sparse.ops import reorder as reorder
from frontends.tf.sparse.ops import to_dense as to_dense
from frontends.tf.sparse.sparse_tensor import SparseTensor as SparseTensor

__getattr__, __dir__ = _names.attributes(
    "tf.sparse",
    {
        name: one
        for name, one in _names.defined_in(transforms.__name__).items()
        if name != "FilledRows"
    },
    present=_names.exported_by(__name__),
    borrowed={
        "bincount": "frontends.tf.sparse.counts",
        "cross": "frontends.tf.sparse.crossing",
        "cross_hashed": "frontends.tf.sparse.crossing",
        **dict.fromkeys(
            ("segment_mean", "segment_sqrt_n", "segment_sum"), "frontends.tf.sparse.segments"
        ),
        "sparse_dense_matmul": "frontends.tf.sparse.products",
    },
)
