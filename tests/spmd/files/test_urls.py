"""Which paths are URLs."""

from pathlib import Path

import pytest

from spmd.files import absolute, is_url, plain


@pytest.mark.parametrize("path", ["runs", "/runs", "a:b", "C:/runs", "a//b", Path("runs")])
def test_paths_of_this_machine_are_no_urls(path):
    assert not is_url(path)


@pytest.mark.parametrize("path", ["gs://bucket", "s3://bucket/runs", "memory://a"])
def test_urls(path):
    assert is_url(path)
    assert plain(path + "/") == absolute(path) == path


def test_a_url_that_lost_a_slash_is_refused():
    """Otherwise a folder `gs:` would be made here, and lost with the machine."""
    with pytest.raises(ValueError, match=r"Pass the text: 's3://bucket/runs'"):
        plain(Path("s3://bucket/runs"))
