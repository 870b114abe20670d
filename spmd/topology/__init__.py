"""Devices and arrays on them: the mesh of a step, simulated devices, and where arrays lie."""
