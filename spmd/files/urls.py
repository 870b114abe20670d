"""Which paths are URLs."""

import os
import re

from spmd.typing import StrPath

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_LOCAL = "file://"
# What `pathlib` makes of a URL.
_CUT = re.compile(r"(gs|s3|gcs|s3a|az|abfs|hdfs):/(?!/)")


def is_url(path: StrPath) -> bool:
    """Tells whether a path is a URL.

    Examples:
        >>> is_url("gs://bucket/runs/1"), is_url("runs/1")
        (True, False)
    """
    return _URL.match(os.fspath(path)) is not None


def plain(path: StrPath) -> str:
    """Returns a path as a text: a URL without slashes at its end, a `file://` URL as the path that it names.

    Raises:
        ValueError: `pathlib.Path` was made of a URL, and lost one of its slashes.

    Examples:
        >>> plain("gs://bucket/runs/"), plain("file:///runs/1"), plain("runs/1/")
        ('gs://bucket/runs', '/runs/1', 'runs/1/')
    """
    text = os.fspath(path)
    if text.startswith(_LOCAL):
        return text.removeprefix(_LOCAL)
    if _CUT.match(text):
        whole = text.replace(":/", "://", 1)
        raise ValueError(
            f"Expected a folder or a URL, got {text}: pathlib.Path takes one slash out of a URL. Pass the text: {whole!r}."
        )
    return text.rstrip("/") if is_url(text) else text


def absolute(path: StrPath) -> str:
    """Returns an absolute path; a URL is one.

    Examples:
        >>> absolute("gs://bucket/runs/"), absolute("/runs/../data")
        ('gs://bucket/runs', '/data')
    """
    text = plain(path)
    return text if is_url(text) else os.path.abspath(text)
