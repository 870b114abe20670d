"""Devices and arrays on them: the mesh of a step, simulated devices, and where arrays lie."""

from spmd.topology.devices import find_devices
from spmd.topology.layout import Layout, Placement, axes_of, layout_of, num_replicas
from spmd.topology.mesh import make_mesh
from spmd.topology.placement import copied, place, place_all, place_own, readable, spans_processes
from spmd.topology.simulation import simulate_devices, simulation_environment

__all__ = [
    "Layout",
    "Placement",
    "axes_of",
    "copied",
    "find_devices",
    "layout_of",
    "make_mesh",
    "num_replicas",
    "place",
    "place_all",
    "place_own",
    "readable",
    "simulate_devices",
    "simulation_environment",
    "spans_processes",
]
