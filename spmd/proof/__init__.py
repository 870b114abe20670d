"""Statements about a traced program, made without running it."""
