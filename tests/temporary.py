"""A fixture for tests that make temporary files by `tempfile`, or call what does."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Has them made where pytest removes what earlier runs have left.

    Not for tests of processes: those of a cluster on one machine share a folder.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        yield
