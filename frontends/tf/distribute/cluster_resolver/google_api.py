"""The client of Google Cloud's services, imported when it is used."""

from types import ModuleType
from typing import Any


def discovery(what: str) -> ModuleType:
    """Imports `googleapiclient.discovery`.

    Args:
        what: what needs it, for the error.

    Raises:
        ImportError: it is not installed.
    """
    try:
        from googleapiclient import discovery as module
    except ImportError as error:
        raise ImportError(
            f"{what} needs Google's API client for Python, which is not installed. Run: "
            'pip install "jaxtribute[gcp]"'
        ) from error
    return module


def signed_in(credentials: Any) -> Any:
    """Gives credentials, those of this machine for `"default"`.

    Args:
        credentials: an object of `google.auth`, None, or `"default"`.

    Raises:
        google.auth.exceptions.DefaultCredentialsError: this machine has none.
    """
    if credentials != "default":
        return credentials
    import google.auth

    return google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])[0]
