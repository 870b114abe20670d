"""Strategies of a program whose steps run in a cluster that it is no task of."""
