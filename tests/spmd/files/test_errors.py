"""Errors of any library are errors of the operating system, which name the URL."""

import errno

import pytest

from spmd.files import StoreError
from spmd.files.errors import as_os_errors

URL = "s3://bucket/a"


@pytest.mark.parametrize("error", [FileNotFoundError("a"), IsADirectoryError("a")])
def test_what_the_system_knows_keeps_its_kind(error):
    with pytest.raises(type(error)) as caught, as_os_errors(URL):
        raise error
    assert caught.value.filename == URL


@pytest.mark.parametrize("error", [PermissionError("Access Denied"), ValueError("Access Denied")])
def test_others_say_what_the_library_says(error):
    with pytest.raises(StoreError) as caught, as_os_errors(URL):
        raise error
    assert str(caught.value) == f"{URL}: {type(error).__name__}: Access Denied"
    assert isinstance(caught.value, OSError)


def test_errors_of_this_machine_stay():
    with pytest.raises(OSError, match="No space") as caught, as_os_errors(URL):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/a")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/tmp/a")
