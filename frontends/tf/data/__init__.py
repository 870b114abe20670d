"""`tf.data`: datasets over arrays in memory, files, Python generators and Grain pipelines.

Elements are NumPy arrays, or tuples, dicts and nested structures of them; what an iterator hands out has a tensor's
methods as well (`host_tensors.py`). Arrays keep their NumPy
dtype until a map function touches them; what a map function returns has JAX's dtypes (float32 and
int32 unless ``jax_enable_x64`` is set), whether it was compiled or not.

Pipelines over arrays in memory are vectorised (:mod:`spmd.input.pipeline`). Only generators, and map
functions that do not trace, run Python code for every element.

Two differences from TensorFlow show: the keys of a dict come in sorted order, as everywhere in JAX,
and text is `str` where it was given as `str` (`bytes` stay `bytes`).

Source: ``tf.data``.
"""

from frontends.tf.data import experimental as experimental
from frontends.tf.data import iterator
from frontends.tf.data.constants import AUTOTUNE as AUTOTUNE
from frontends.tf.data.constants import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from frontends.tf.data.constants import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from frontends.tf.data.dataset import Dataset as Dataset
from frontends.tf.data.files import FixedLengthRecordDataset as FixedLengthRecordDataset
from frontends.tf.data.files import TextLineDataset as TextLineDataset
from frontends.tf.data.files import TFRecordDataset as TFRecordDataset
from frontends.tf.data.one_shot import (
    make_initializable_iterator as make_initializable_iterator,
)
from frontends.tf.data.one_shot import make_one_shot_iterator as make_one_shot_iterator
from frontends.tf.data.options import Options as Options
from frontends.tf.data.options import ThreadingOptions as ThreadingOptions
from frontends.tf.data.spec import DatasetSpec as DatasetSpec

Iterator = iterator.DatasetIterator
