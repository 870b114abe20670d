"""Files by the names of TensorFlow's undocumented `python.lib.io.file_io`, which trainers of TensorFlow 1 import."""

from frontends.tf._names import attributes
from frontends.tf.io import gfile
from spmd.typing import StrPath


def read_file_to_string(filename: StrPath, binary_mode: bool = False) -> str | bytes:
    """Reads a file: its text, or its bytes in `binary_mode`.

    Raises:
        OSError: it cannot be read.

    Source: `tensorflow.python.lib.io.file_io.read_file_to_string`.
    """
    with gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: StrPath, file_content: str | bytes) -> None:
    """Writes a file.

    Raises:
        OSError: it cannot be written.

    Source: `tensorflow.python.lib.io.file_io.write_string_to_file`.
    """
    with gfile.GFile(filename, "wb") as file:
        file.write(file_content)


__getattr__, __dir__ = attributes(
    "tensorflow.python.lib.io.file_io",
    {
        "FileIO": gfile.GFile,
        "copy": gfile.copy,
        "create_dir": gfile.mkdir,
        "delete_file": gfile.remove,
        "delete_recursively": gfile.rmtree,
        "file_exists": gfile.exists,
        "get_matching_files": gfile.glob,
        "is_directory": gfile.isdir,
        "list_directory": gfile.listdir,
        "recursive_create_dir": gfile.makedirs,
    },
    rest="frontends.tf.io.gfile",
)
