"""Devices and arrays on them: the mesh of a step, simulated devices, and where arrays lie."""

from spmd.topology.devices import find_devices as find_devices
from spmd.topology.layout import Layout as Layout
from spmd.topology.layout import axes_of as axes_of
from spmd.topology.layout import layout_of as layout_of
from spmd.topology.layout import num_replicas as num_replicas
from spmd.topology.mesh import make_mesh as make_mesh
from spmd.topology.placement import brought_together as brought_together
from spmd.topology.placement import copied as copied
from spmd.topology.placement import place as place
from spmd.topology.placement import place_all as place_all
from spmd.topology.placement import place_own as place_own
from spmd.topology.placement import readable as readable
from spmd.topology.placement import spans_processes as spans_processes
from spmd.topology.simulation import simulate_devices as simulate_devices
from spmd.topology.simulation import simulation_environment as simulation_environment
from spmd.topology.target import is_planned as is_planned
from spmd.topology.target import platform_of as platform_of
from spmd.topology.target import target_of as target_of
from spmd.topology.target import trace_for as trace_for
