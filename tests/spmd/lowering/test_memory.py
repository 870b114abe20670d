"""Tests of keeping freed memory."""

import ctypes
import platform
import sys
import types

import pytest

from spmd.lowering.memory import keep_freed_memory


@pytest.fixture(autouse=True)
def told_nothing():
    keep_freed_memory.cache_clear()
    yield
    keep_freed_memory.cache_clear()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no mallopt")
def test_glibc_is_told():
    assert keep_freed_memory()


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: types.SimpleNamespace())
    assert not keep_freed_memory()


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not keep_freed_memory()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")
def test_told_once(monkeypatch):
    options = []
    library = types.SimpleNamespace(mallopt=lambda *option: options.append(option) or 1)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert keep_freed_memory()
    assert keep_freed_memory()
    assert options == [(-4, 0), (-1, -1)]
