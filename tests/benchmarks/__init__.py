"""Benchmarks: commands that anyone can run, not timed tests. `make bench`, or `python -m tests.benchmarks`."""
