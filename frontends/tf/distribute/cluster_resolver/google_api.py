"""The client of Google Cloud's services, imported when it is used."""

from typing import Any


def google_service(name: str, credentials: Any, needed_by: str, **options: Any) -> Any:
    """Signs in to version 1 of a service.

    Args:
        name: of the service.
        credentials: an object of `google.auth`, None, or `"default"` for those of this machine.
        needed_by: what needs it, for the error.
        options: of `googleapiclient.discovery.build`.

    Raises:
        ImportError: the client is not installed.
        google.auth.exceptions.DefaultCredentialsError: this machine has no credentials.
    """
    try:
        import google.auth
        from googleapiclient import discovery
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs Google's API client for Python, which is not installed. Run: "
            'pip install "jaxtribute[gcp]"'
        ) from error
    if credentials == "default":
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        credentials = google.auth.default(scopes=scopes)[0]
    return discovery.build(name, "v1", credentials=credentials, **options)
