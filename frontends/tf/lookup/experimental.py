"""`tf.lookup.experimental`: tables whose entries change."""

from frontends.tf import _names
from frontends.tf.lookup.tables import DenseHashTable as DenseHashTable
from frontends.tf.lookup.tables import MutableHashTable as MutableHashTable

__getattr__, __dir__ = _names.attributes("tf.lookup.experimental", _names.exported_by(__name__))
