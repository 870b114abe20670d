"""`tf.version`: which TensorFlow this stands for.

It reads like TensorFlow's own version to `int(VERSION.split(".")[0])` and to `packaging.version`;
what follows the plus sign is a local version of PEP 440, this project's.
"""

from importlib import metadata


def _own_version() -> str:
    try:
        return f"jaxtribute.{metadata.version('jaxtribute')}"
    except metadata.PackageNotFoundError:  # run from a checkout
        return "jaxtribute"


VERSION = f"2.21.0+{_own_version()}"
GIT_VERSION = f"v{VERSION}"
COMPILER_VERSION = "XLA"
# Of the format of TensorFlow 2.21's graphs, which nothing here writes.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
