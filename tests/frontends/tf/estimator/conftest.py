"""Fixtures for tests of estimators."""

from tests.temporary import temporary_files as temporary_files
