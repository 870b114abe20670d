"""Files by the names of TensorFlow 1."""

from frontends import tf


def test_files_have_the_names_of_both_versions(tmp_path):
    folder = f"{tmp_path}/a/b"
    tf.gfile.MakeDirs(folder)
    with tf.compat.v1.gfile.Open(f"{folder}/c.txt", "w") as file:
        file.write("text")
    assert tf.gfile.Exists(filename=folder)
    assert tf.gfile.IsDirectory(folder)
    assert tf.gfile.ListDirectory(folder) == tf.gfile.listdir(folder) == ["c.txt"]
    assert tf.gfile.Glob(filename=f"{folder}/*") == [f"{folder}/c.txt"]
    with tf.gfile.GFile(f"{folder}/c.txt") as file:
        assert list(file) == ["text"]
    tf.gfile.DeleteRecursively(dirname=folder)
    assert not tf.gfile.Exists(folder)
