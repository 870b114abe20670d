"""An S3 server on this machine (moto's), for tests that need a store which outlives the processes that use it."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.ports import free_ports

BUCKET = "bucket"
_SECONDS = 120


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """Gives the environment in which `s3://bucket` is on that server; see the extra `test-stores`."""
    for package in ("moto", "flask", "s3fs"):
        pytest.importorskip(package, reason="pip install 'jaxtribute[test-stores]'")
    (port,) = free_ports(1)
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + _SECONDS
        while True:
            try:
                request = urllib.request.Request(f"{url}/{BUCKET}", method="PUT")
                urllib.request.urlopen(request, timeout=10).close()
                break
            except OSError:
                assert time.monotonic() < end
                assert server.poll() is None
                time.sleep(0.2)
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()
