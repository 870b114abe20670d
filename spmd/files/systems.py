"""Which file system of fsspec a URL belongs to. Credentials and endpoints are fsspec's business."""

import threading
from typing import Any

from spmd.files.errors import MissingPackageError, as_os_errors

# Packages that are an extra of this project.
_EXTRAS = {"gs": "gcs", "gcs": "gcs", "s3": "s3", "s3a": "s3"}
# Have no folders: one is there while something is in it.
_OBJECT_STORES = frozenset({*_EXTRAS, "az", "abfs", "abfss", "adl", "oss", "r2", "oci"})

# fsspec makes one instance for all threads, but not by one.
_lock = threading.Lock()


def file_system(url: str) -> tuple[Any, str]:
    """Returns the file system of a URL, which remembers nothing of what others may change, and the path in it.

    Raises:
        MissingPackageError: the package of the file system is not installed.
        ValueError: there is no such kind of URL.
        OSError: there are no credentials, or the store does not answer.
    """
    import fsspec  # only who uses a URL needs it

    try:
        with _lock, as_os_errors(url):
            # Threads share it: one would fill its cache again with what another has just invalidated.
            options = {} if has_folders(url) else {"use_listings_cache": False}
            system, path = fsspec.core.url_to_fs(url, **options)
    except OSError as error:
        cause = error.__cause__
        if isinstance(cause, ImportError):
            raise MissingPackageError(_advice(url, cause)) from None
        if isinstance(cause, ValueError):
            raise ValueError(
                f"Expected a path, or a URL that fsspec knows, such as gs://bucket/folder; got {url}: {cause}"
            ) from None
        raise
    system.invalidate_cache()
    return system, path


def has_folders(url: str) -> bool:
    """Tells whether there may be folders with nothing in them.

    Examples:
        >>> has_folders("memory://a"), has_folders("gs://bucket/a")
        (True, False)
    """
    return url.partition("://")[0] not in _OBJECT_STORES


def puts_whole_files(url: str) -> bool:
    """Tells whether a file is there whole or not at all while it is written; else it has to be renamed.

    Examples:
        >>> puts_whole_files("gs://bucket/a"), puts_whole_files("sftp://host/a")
        (True, False)
    """
    return not has_folders(url) or url.startswith("memory://")


def _advice(url: str, error: ImportError) -> str:
    extra = _EXTRAS.get(url.partition("://")[0])
    install = f"Install it: pip install 'jaxtribute[{extra}]'" if extra else f"fsspec says: {error}"
    return f"Expected the package that reads and writes {url}, but it is not installed. {install}"
