"""`tf.compat.v1.gfile`: `tf.io.gfile` by the names of TensorFlow 1, and by its own."""

from frontends.tf._names import attributes
from frontends.tf.io import gfile

__getattr__, __dir__ = attributes(
    "tf.compat.v1.gfile",
    {
        "Copy": gfile.copy,
        "DeleteRecursively": gfile.rmtree,
        "Exists": gfile.exists,
        "FastGFile": gfile.GFile,
        "GFile": gfile.GFile,
        "Glob": gfile.glob,
        "IsDirectory": gfile.isdir,
        "ListDirectory": gfile.listdir,
        "MakeDirs": gfile.makedirs,
        "MkDir": gfile.mkdir,
        "Open": gfile.GFile,
        "Remove": gfile.remove,
        "Rename": gfile.rename,
        "Stat": gfile.stat,
        "Walk": gfile.walk,
    },
    rest="frontends.tf.io.gfile",
)
