"""A Python function of one replica becomes a compiled program for all of them."""
