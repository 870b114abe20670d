"""Uses are counted by repository, file and name."""

import pytest

from tests import usage


@pytest.fixture
def folder(tmp_path):
    scripts = {
        "one/a.py": "import tensorflow as tf\ntf.cast(1, tf.cast)\ntf.distribute.get_strategy()\n",
        "one/b.py": "import tensorflow as tf\ntf.Session()\ntf.cast\n",
        "two/c.py": "from tensorflow import cast\n",
        "two/d.py": "import tensorflow as tf\nprint 'a'\n",
        "two/e.py": "import numpy\n",
    }
    for name, text in scripts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_counts(folder):
    found = usage.count(folder)
    assert (found.scripts, found.complete, found.unreadable) == (3, 2, 1)
    assert (found.distributing, found.distributing_complete) == (1, 1)
    assert found.table().splitlines() == [
        "repos\tfiles\tdistribute_files\tuses\tpresent\tsymbol",
        "2\t3\t1\t4\tyes\tcast",
        "1\t1\t0\t1\tno\tSession",
        "1\t1\t1\t1\tyes\tdistribute.get_strategy",
    ]


def test_the_command(folder, capsys):
    assert usage.main([str(folder), "--tsv", str(folder / "names.tsv")]) == 0
    output = capsys.readouterr().out
    assert "names, by uses: 5 of 6 (83.3 %)" in output
    assert "files that find all names: 2 of 3 (66.7 %)" in output
    assert (folder / "names.tsv").read_text().startswith("repos\t")
    with pytest.raises(SystemExit):
        usage.main([str(folder / "absent")])
