"""`tf.io`: files, records, pictures, and the values in serialized examples, tensors and texts; all on the host."""

from frontends.tf import _names
from frontends.tf.image import coding
from frontends.tf.io import gfile
from frontends.tf.io.decoding import decode_base64 as decode_base64
from frontends.tf.io.decoding import decode_compressed as decode_compressed
from frontends.tf.io.decoding import decode_csv as decode_csv
from frontends.tf.io.decoding import decode_raw as decode_raw
from frontends.tf.io.decoding import encode_base64 as encode_base64
from frontends.tf.io.features import FixedLenFeature as FixedLenFeature
from frontends.tf.io.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from frontends.tf.io.features import RaggedFeature as RaggedFeature
from frontends.tf.io.features import SparseFeature as SparseFeature
from frontends.tf.io.features import VarLenFeature as VarLenFeature
from frontends.tf.io.files import matching_files as matching_files
from frontends.tf.io.files import read_file as read_file
from frontends.tf.io.files import write_file as write_file
from frontends.tf.io.parsing import parse_example as parse_example
from frontends.tf.io.parsing import parse_single_example as parse_single_example
from frontends.tf.io.record_writer import TFRecordOptions as TFRecordOptions
from frontends.tf.io.record_writer import TFRecordWriter as TFRecordWriter
from frontends.tf.io.sequences import parse_sequence_example as parse_sequence_example
from frontends.tf.io.sequences import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from frontends.tf.io.tensors import parse_tensor as parse_tensor
from frontends.tf.io.tensors import serialize_tensor as serialize_tensor

__getattr__, __dir__ = _names.attributes(
    "tf.io",
    {"gfile": gfile} | _names.defined_in(coding.__name__) | _names.exported_by(__name__),
    borrowed=dict.fromkeys(
        ("TFRecordCompressionType", "tf_record_iterator"), "frontends.tf.io.record_writer"
    ),
)
