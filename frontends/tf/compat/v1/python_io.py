"""`tf.compat.v1.python_io`: reading and writing TFRecord files."""

from frontends.tf import _names
from frontends.tf.io.record_writer import TFRecordCompressionType as TFRecordCompressionType
from frontends.tf.io.record_writer import TFRecordOptions as TFRecordOptions
from frontends.tf.io.record_writer import TFRecordWriter as TFRecordWriter
from frontends.tf.io.record_writer import tf_record_iterator as tf_record_iterator

__getattr__, __dir__ = _names.attributes("tf.compat.v1.python_io", _names.exported_by(__name__))
