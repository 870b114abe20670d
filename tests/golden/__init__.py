"""A tool: records what TensorFlow computes (`make golden`) and runs the same cases here; see `scenarios` and `record`.

It tests no module of its own, so it mirrors none; test_golden.py compares both results.
"""
