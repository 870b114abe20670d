"""Versions of TensorFlow of modules that belong together."""

import pytest

from frontends.tf.check.findings import Kind
from frontends.tf.check.projects import in_versions_of_their_projects
from frontends.tf.check.report import report_on
from frontends.tf.check.sources import files_in

TF = "import tensorflow as tf\n"
ONE = f"{TF}tf.logging.info('text')\n"
TWO = f"{TF}tf.metrics.Mean()\n"
HELPER = f"{TF}def net(x, keep_prob):\n  return tf.nn.dropout(x, keep_prob)\n"
USES = "uses tf.logging.info (line 2)"


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(**files):
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        paths = [path.relative_to(tmp_path) for path in files_in([tmp_path])]
        reports = in_versions_of_their_projects([*map(report_on, paths)])
        return {report.path.stem: report for report in reports}

    return check


def of_1(reports):
    return {name for name, report in reports.items() if report.version.is_1}


def test_what_a_module_for_version_1_imports_is_for_it(check):
    found = check(train=f"{ONE}import nets\n", nets=HELPER)
    assert found["nets"].version.because == f"train.py imports it, and {USES}"
    changes = [one.text for one in found["nets"].findings if one.kind == Kind.CHANGE]
    assert changes == ["from frontends.tf.compat import v1 as tf"]


def test_what_imports_a_module_for_version_1_is_for_it(check):
    found = check(main=f"{HELPER}import model\n", model=ONE)
    assert found["main"].version.because == f"it imports model.py, which {USES}"


def test_versions_reach_through_modules_and_folders(check):
    found = check(
        main=f"{TF}from nets import factory\nimport train\n",
        train=ONE,
        nets__factory="from . import layers\n",  # no TensorFlow in it
        nets__layers=HELPER,
    )
    assert of_1(found) == {"main", "train", "layers"}
    assert found["layers"].version.because == (
        f"nets/factory.py imports it, and belongs to train.py, which {USES}"
    )


@pytest.mark.parametrize(
    "text", [TWO, "from frontends import tf\n", "import tensorflow.compat.v1 as tf\n"]
)
def test_a_module_that_tells_its_version_stays(check, text):
    found = check(train=f"{ONE}import nets\n", nets=f"{text}import layers\n", layers=HELPER)
    assert of_1(found) == {"train"}


def test_modules_that_do_not_belong_together_stay(check):
    # tools has no TensorFlow, and layers is for programs of both versions: neither joins what imports it.
    found = check(
        train=f"{ONE}import tools, layers\n",
        tools="x = 1\n",
        layers=HELPER,
        other=f"{TF}import tools\n",
        new=f"{TWO}import layers\n",
        another=f"{TF}import layers\n",
        alone=HELPER,
    )
    assert of_1(found) == {"train", "layers"}


def test_a_project_without_names_of_version_1_stays(check):
    assert of_1(check(train=f"{TF}import nets\n", nets=HELPER)) == set()


def test_what_python_cannot_read_stays(check):
    found = check(train=f"{ONE}import nets\n", nets=f"{TF}print 'Python 2'\n")
    assert [one.kind for one in found["nets"].findings] == [Kind.UNREADABLE]
