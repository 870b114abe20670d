"""Files by names that TensorFlow does not document."""

from frontends.tf.compat.v1 import gfile
from frontends.tf.io import file_io


def test_trainers_find_their_names(tmp_path):
    path = f"{tmp_path}/a.txt"
    file_io.write_string_to_file(path, "text")
    assert file_io.read_file_to_string(path) == "text"
    assert file_io.read_file_to_string(path, binary_mode=True) == b"text"
    with gfile.FileIO(path, mode="r") as file:
        assert file.read() == "text"
    assert gfile.file_exists(path)
    assert gfile.get_matching_files(f"{tmp_path}/*") == [path]
