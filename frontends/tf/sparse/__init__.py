"""`tf.sparse`: sparse tensors in host memory, as records are parsed to, and the way to dense arrays."""

from frontends.tf import _names
from frontends.tf.sparse.ops import from_dense as from_dense
from frontends.tf.sparse.ops import reorder as reorder
from frontends.tf.sparse.ops import to_dense as to_dense
from frontends.tf.sparse.sparse_tensor import SparseTensor as SparseTensor

__getattr__, __dir__ = _names.attributes("tf.sparse", _names.exported_by(__name__))
