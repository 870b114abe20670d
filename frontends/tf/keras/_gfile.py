"""What Keras's `file_utils` uses in place of TensorFlow's `gfile`, for paths that are URLs."""

from types import SimpleNamespace

from frontends.tf.io import gfile

FILES = SimpleNamespace(
    available=True,
    GFile=gfile.GFile,
    copy=gfile.copy,
    exists=gfile.exists,
    isdir=gfile.isdir,
    join=gfile.join,
    listdir=gfile.listdir,
    makedirs=gfile.makedirs,
    remove=gfile.remove,
    rmtree=gfile.rmtree,
)
