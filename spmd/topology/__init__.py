"""Devices and arrays on them: the mesh of a step, simulated devices, and where arrays lie."""

from spmd.topology.devices import find_devices
from spmd.topology.layout import (
    REPLICA_AXIS,
    num_replicas,
    split_sharding,
    whole_sharding,
)
from spmd.topology.mesh import make_mesh
from spmd.topology.placement import (
    copied,
    place,
    place_all,
    place_own,
    readable,
    spans_processes,
)
from spmd.topology.simulation import simulate_devices, simulation_environment

__all__ = [
    "REPLICA_AXIS",
    "copied",
    "find_devices",
    "make_mesh",
    "num_replicas",
    "place",
    "place_all",
    "place_own",
    "readable",
    "simulate_devices",
    "simulation_environment",
    "spans_processes",
    "split_sharding",
    "whole_sharding",
]
