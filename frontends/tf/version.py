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
