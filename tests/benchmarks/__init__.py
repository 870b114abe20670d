"""A tool: benchmarks that anyone can run, no timed tests. `make bench`, or `python -m tests.benchmarks`.

It mirrors no package; its own test files test how comparisons are made.
"""
