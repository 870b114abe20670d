"""`tf.lookup`: tables that find a value for each key, on the host."""

from frontends.tf import _names
from frontends.tf.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from frontends.tf.lookup.initializers import TextFileIndex as TextFileIndex
from frontends.tf.lookup.initializers import TextFileInitializer as TextFileInitializer
from frontends.tf.lookup.tables import StaticHashTable as StaticHashTable
from frontends.tf.lookup.tables import StaticVocabularyTable as StaticVocabularyTable

__getattr__, __dir__ = _names.attributes(
    "tf.lookup",
    _names.exported_by(__name__),
    {"experimental": "frontends.tf.lookup.experimental"},
)
