"""Kinds of data sources, one adapter each. Libraries are recognised without importing them."""
