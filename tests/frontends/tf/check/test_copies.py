"""Copies of scripts and of projects: what they hold, what stays, and that they run."""

import os

from frontends.tf.check import copies
from frontends.tf.check.report import report_on
from frontends.tf.check.sources import files_in

MODEL = "import tensorflow as tf\n\n\ndef total(x):\n    return tf.reduce_sum(x)\n"


def write_files(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy(folder, force=False):
    reports = {path: report_on(path) for path in files_in([folder])}
    return copies.write_project(folder, reports, force)


def test_a_copied_folder_runs_without_the_original(tmp_path, run_python):
    folder = tmp_path / "project"
    main = "from pathlib import Path\nfrom nets.model import total\n"
    main += "print(int(total([1, 2])), Path(__file__).with_name('text.txt').read_text())\n"
    model = "from .layer import layer\nfrom tensorflow import reduce_sum\n\n\n"
    model += "def total(x):\n    return reduce_sum(layer(x))\n"
    layer = "import tensorflow as tf\n\n\ndef layer(x):\n    return tf.square(x)\n"
    write_files(
        folder,
        {
            "main.py": main,
            "nets/__init__.py": "",
            "nets/model.py": model,
            "nets/layer.py": layer,
            "text.txt": "words",
            ".git/config": "",
        },
    )
    assert copy(folder) == 0
    folder.rename(tmp_path / "away")
    copied = tmp_path / "project_jaxtribute"
    assert not (copied / ".git").exists()
    assert run_python(copied / "main.py", cwd=copied).stdout == "5 words\n"


def test_a_copied_package_keeps_its_name(tmp_path, capsys, run_python):
    folder = tmp_path / "net"
    main = "from net.model import total\n\nprint(int(total([1, 2])))\n"
    write_files(folder, {"__init__.py": "", "main.py": main, "model.py": MODEL})
    assert copy(folder) == 0
    copied = tmp_path / "net_jaxtribute"
    assert f"wrote {copied / 'net'}: 3 files, 1 of them changed. Run them from {copied}" in (
        capsys.readouterr().err
    )
    folder.rename(tmp_path / "away")
    assert run_python("-m", "net.main", cwd=copied).stdout == "3\n"


def test_a_part_of_a_package_is_refused(tmp_path):
    folder = tmp_path / "net"
    write_files(folder, {"__init__.py": "", "nets/__init__.py": "", "nets/deep/__init__.py": ""})
    assert copies.problem_with(folder) == ""
    text = copies.problem_with(folder / "nets" / "deep")
    assert text.endswith(
        f"is a part of the package net, whose modules import each other: name {folder}, or use --in-place"
    )


def test_what_is_in_a_copy_already_stays(tmp_path, capsys):
    folder = tmp_path / "project"
    write_files(folder, {"a.py": MODEL, "b.py": MODEL})
    assert copy(folder) == 0
    assert copy(folder) == 0  # the same again
    mine = tmp_path / "project_jaxtribute" / "a.py"
    mine.write_text("mine = 1\n")
    assert copy(folder) == 2
    assert f"{mine} exists" in capsys.readouterr().err
    assert mine.read_text() == "mine = 1\n"
    assert copy(folder, force=True) == 0
    assert mine.read_text() == MODEL.replace("import tensorflow as tf", "from frontends import tf")


def test_large_files_are_named_and_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(copies, "_LARGE", 100)
    folder = tmp_path / "project"
    write_files(folder, {"a.py": MODEL, "data.bin": "x" * 101, "small.bin": "x"})
    assert copy(folder) == 0
    assert f"{folder / 'data.bin'} is large, and is not in the copy" in capsys.readouterr().err
    names = {path.name for path in (tmp_path / "project_jaxtribute").iterdir()}
    assert names == {"a.py", "small.bin"}


def test_links_to_folders_are_named_and_left_out(tmp_path, capsys):
    folder, data = tmp_path / "project", tmp_path / "data"
    write_files(folder, {"a.py": MODEL})
    write_files(data, {"large.bin": "x"})
    (folder / "data").symlink_to(data)
    (folder / "b.py").symlink_to(folder / "a.py")
    assert copy(folder) == 0
    told = capsys.readouterr().err
    assert f"{folder / 'data'} leads to a folder, and is not in the copy: link it there" in told
    assert {path.name for path in (tmp_path / "project_jaxtribute").iterdir()} == {"a.py", "b.py"}


def test_what_is_the_same_already_is_not_written(tmp_path):
    folder = tmp_path / "project"
    write_files(folder, {"a.py": MODEL, "text.txt": "words"})
    assert copy(folder) == 0
    copied = tmp_path / "project_jaxtribute" / "text.txt"
    os.utime(copied, (0, 0))
    assert copy(folder) == 0
    assert copied.stat().st_mtime == 0


def test_what_cannot_be_copied_is_named_and_the_others_are_copied(tmp_path, capsys):
    folder = tmp_path / "project"
    write_files(folder, {"a.py": MODEL, "b.py": MODEL})
    (tmp_path / "project_jaxtribute" / "a.py").mkdir(parents=True)
    assert copy(folder) == 2
    assert f"{folder / 'a.py'} is not in the copy" in capsys.readouterr().err
    assert (tmp_path / "project_jaxtribute" / "b.py").is_file()


def test_a_script_says_which_of_its_modules_have_not_changed(tmp_path, capsys):
    main = "import tensorflow as tf\nimport model, other\n"
    write_files(tmp_path, {"main.py": main, "model.py": MODEL, "other.py": "x = 1\n"})
    assert copies.write_script(report_on(tmp_path / "main.py"), force=False) == 0
    told = capsys.readouterr().err
    assert "main_jaxtribute.py imports model.py, which uses TensorFlow" in told
    assert f"jaxtribute check --fix {tmp_path} copies the whole folder" in told
