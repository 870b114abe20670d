"""`tf.version`: which TensorFlow this stands for.

`VERSION` is TensorFlow's alone, three numbers, because scripts take it apart: `map(int, VERSION.split("."))`,
`StrictVersion(VERSION)`. This project's own version is in `GIT_VERSION`.
"""

from importlib import metadata


def _own_version() -> str:
    try:
        return f"jaxtribute.{metadata.version('jaxtribute')}"
    except metadata.PackageNotFoundError:  # run from a checkout
        return "jaxtribute"


VERSION = "2.21.0"
GIT_VERSION = f"v{VERSION}+{_own_version()}"
COMPILER_VERSION = "XLA"
# Of the format of TensorFlow 2.21's graphs, which nothing here writes.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
