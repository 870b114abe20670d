"""Which package reads a URL, and that what others change is seen."""

import sys

import pytest

from spmd.files import MissingPackageError, StorePath
from spmd.files.systems import file_system


@pytest.mark.parametrize(
    ("url", "package", "extra"), [("gs://b/a", "gcsfs", "gcs"), ("s3://b/a", "s3fs", "s3")]
)
def test_a_missing_package_is_named(monkeypatch, url, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"pip install 'jaxtribute\[{extra}\]'"):
        StorePath(url).exists()


def test_an_unknown_kind_of_url_is_named():
    with pytest.raises(ValueError, match="got nothing://a: Protocol not known"):
        file_system("nothing://a")
