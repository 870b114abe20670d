"""Fixtures for tests of the recorded cases."""

from tests.temporary import temporary_files as temporary_files
